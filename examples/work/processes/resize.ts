// A queue worker in TypeScript: it takes the jobs of the queue `resize`.
//
//   riverrun jobs add resize -d '{"url": "https://example.org/cat.jpg", "width": 640}' --wait

import { defineQueueConfig, defineQueueWorker } from 'riverrun'

interface Picture {
  url: string
  width: number
}

export const config = defineQueueConfig({
  concurrency: 4,
  retry: { maxAttempts: 3, backoffMs: 200 },
  inputSchema: {
    type: 'object',
    properties: { url: { type: 'string' }, width: { type: 'integer', minimum: 1 } },
    required: ['url', 'width'],
  },
})

export default defineQueueWorker<Picture>(async (job, ctx) => {
  ctx.logger.info(`resizing ${job.data.url}`)
  ctx.progress(50)
  await ctx.state.set('width', job.data.width)
  return { url: job.data.url, width: job.data.width, attempt: ctx.attempt }
})
