// A callable in TypeScript: it is run at once, without a queue, and has the whole context.
//
//   riverrun call quote -d '{"width": 640, "copies": 3}'

import { defineProcess, defineQueueConfig } from 'riverrun'

interface Order {
  width: number
  copies: number
}

interface Price {
  cents: number
  each: number
}

export const config = defineQueueConfig({
  runMode: 'call',
  timeoutMs: 5_000,
  inputSchema: {
    type: 'object',
    properties: { width: { type: 'integer', minimum: 1 }, copies: { type: 'integer', minimum: 1 } },
    required: ['width', 'copies'],
  },
})

export default defineProcess<Order>(async ({ width, copies }, ctx): Promise<Price> => {
  const each = Math.ceil(width / 100)
  // Recorded in the call's own stream, which others can follow: riverrun tail call/<id>
  await ctx.state.set('each', each)
  ctx.partial({ each })
  ctx.logger.info(`${copies} copies at ${each} cents`)
  return { cents: each * copies, each }
})
