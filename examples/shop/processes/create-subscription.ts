// Another flow, which emits the same event: `wait-for-payment` serves in both.

export const config = {
  step: 'create-subscription',
  emits: ['order.created'],
}

export default async function createSubscription(input: { customer: string; price: number }, ctx: any) {
  const orderId = `sub-${input.customer}`
  await ctx.state.set('customer', input.customer)
  await ctx.emit({ kind: 'order.created', data: { orderId, total: input.price, requiresPayment: true } })
  return { orderId }
}
