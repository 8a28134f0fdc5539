// A step whose definition waits before it, or after it: it tells what came.

export const config = {
  queue: 'torture-tell',
  concurrency: 32,
  timeoutMs: 5_000,
  retryPolicy: { attempts: 30, backoff: { type: 'fixed', delayMs: 20 } },
}

export default async function (input, ctx) {
  return { came: ctx.awaited?.data?.n ?? ctx.awaited?.n ?? null }
}
