// Entered when the payment does not come in time, and to undo an order that failed later.

export const config = {
  step: 'cancel-order',
  flow: { role: 'step' },
}

export default async function cancelOrder(input: any, ctx: any) {
  await ctx.state.set('cancelled', true)
  return { cancelled: input.orderId ?? input.result?.orderId }
}
