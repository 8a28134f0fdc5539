export const config = {
  step: 'activate-subscription',
  flow: 'create-subscription',
  subscriptions: [{ eventKind: 'order.paid' }],
}

export default async function activateSubscription(input: { orderId: string }, ctx: any) {
  await ctx.state.set('active', true)
  return { active: input.orderId }
}
