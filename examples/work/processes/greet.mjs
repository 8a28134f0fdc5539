// A callable in JavaScript: it is run at once, without a queue.
//
//   riverrun call greet -d '{"name": "Ada"}'

export const config = { runMode: 'call' }

export default async function greet(input, ctx) {
  ctx.logger.info(`greeting ${input.name}`)
  return { greeting: `Hello, ${input.name}!` }
}
