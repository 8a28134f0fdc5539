// Waits in its code for a person, who answers on a page: the url is in the run's events, and
// would be sent by mail here.

export const config = {
  flow: {
    id: 'refund',
    role: 'step',
    step: 'wait-for-approval',
    subscriptions: [{ eventKind: 'refund.initiated' }],
    emits: ['approval.granted', 'approval.denied'],
  },
}

export default async function waitForApproval(input: { orderId: string; amount: number }, ctx: any) {
  const callback = await ctx.await.trigger({ type: 'user', payload: input, timeout: '7d' })
  await ctx.run('mail', async () => ctx.logger.info(`please decide: ${callback.url}`))
  const answer = await callback.wait()
  const kind = answer.approved ? 'approval.granted' : 'approval.denied'
  await ctx.emit({ kind, data: { ...input, comment: answer.comment } })
  return { approved: answer.approved }
}
