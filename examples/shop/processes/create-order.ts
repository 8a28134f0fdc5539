// The beginning of the flow `create-order`: nothing in its config enters it.

export const config = {
  step: 'create-order',
  queue: 'orders',
  retry: { maxAttempts: 3, backoffMs: 1000 },
  emits: ['order.created'],
  compensation: { step: 'cancel-order' },
  inputSchema: {
    type: 'object',
    properties: { orderId: { type: 'string' }, total: { type: 'number', minimum: 0 } },
    required: ['orderId', 'total'],
  },
}

interface Order {
  orderId: string
  total: number
}

export default async function createOrder(input: Order, ctx: any) {
  await ctx.state.set('order', input)
  await ctx.emit({ kind: 'order.created', data: { ...input, requiresPayment: input.total > 0 } })
  return { orderId: input.orderId }
}
