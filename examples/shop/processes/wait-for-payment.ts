// A step that may be part of any flow: it waits for an event from outside before it runs.

const DAY = 24 * 60 * 60 * 1000

export const config = {
  step: 'wait-for-payment',
  queue: 'payments',
  subscriptions: [
    {
      eventKind: 'order.created',
      when: (event: any) => event.data.requiresPayment === true,
      map: (event: any) => ({ orderId: event.data.orderId, amount: event.data.total }),
    },
  ],
  await: {
    type: 'event',
    eventKind: 'payment.confirmed',
    where: (event: any, ctx: any) => event.data.orderId === ctx.input.orderId,
    timeout: DAY,
    onTimeout: 'cancel-order',
    // A payment that is confirmed while the order is still being written counts too, but none that
    // came for an earlier order.
    lookback: 'run',
  },
  emits: ['order.paid'],
}

export default async function waitForPayment(input: { orderId: string; amount: number }, ctx: any) {
  ctx.logger.info(`payment of ${input.amount} confirmed for order ${input.orderId}`)
  await ctx.emit({ kind: 'order.paid', data: { orderId: input.orderId } })
  return { paid: true, by: ctx.awaited.data.by ?? 'unknown' }
}
