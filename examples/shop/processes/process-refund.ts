export const config = {
  flow: {
    id: 'refund',
    role: 'step',
    step: 'process-refund',
    subscriptions: [{ eventKind: 'approval.granted' }],
  },
}

export default async function processRefund(input: { orderId: string; amount: number }, ctx: any) {
  const transfer = await ctx.run('transfer', async () => `transfer-${input.orderId}`)
  return { refunded: input.amount, transfer }
}
