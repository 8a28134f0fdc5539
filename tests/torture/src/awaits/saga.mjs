// All steps of a flow of events: what each does its name says.

export const config = {
  queue: 'torture-saga',
  concurrency: 32,
  timeoutMs: 5_000,
  retryPolicy: { attempts: 30, backoff: { type: 'fixed', delayMs: 20 } },
}

export default async function (input, ctx) {
  switch (ctx.step) {
    case 'order':
      await ctx.emit('torture.stock', { key: input.key })
      await ctx.emit('torture.card', { key: input.key })
      return 'ordered'
    case 'pack':
      await ctx.emit('torture.packed', input)
      return 'packed'
    case 'ship':
      throw Object.assign(new Error('no ship came'), { code: 'LOST_AT_SEA', retriable: false })
    default:
      return { undid: input.step }
  }
}
