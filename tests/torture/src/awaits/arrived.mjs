// A step whose definition waits before it, or after it: it returns what arrived.

export const config = {
  queue: 'torture-arrived',
  concurrency: 32,
  timeoutMs: 5_000,
  retryPolicy: { attempts: 30, backoff: { type: 'fixed', delayMs: 20 } },
}

export default async function (input, ctx) {
  return { came: ctx.awaited?.data?.n ?? ctx.awaited?.n ?? null }
}
