// A queue worker: it takes the jobs of the queue `greet`, which has the name of this file.
//
//   riverrun jobs add greet -d '{"name": "Ada"}' --wait
//
// `riverrun dev` loads it anew when you save. What it throws is tried again.

export const config = {
  concurrency: 4,
  retryPolicy: { attempts: 3, backoff: { type: 'exponential', delayMs: 200 } },
}

export default async function (input, ctx) {
  ctx.logger.info(`attempt ${ctx.attempt} for ${input.name}`)
  await ctx.state.set('name', input.name)
  return { greeting: `Hello, ${input.name}!` }
}
