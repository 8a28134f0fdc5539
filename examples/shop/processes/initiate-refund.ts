// The beginning of the flow `refund`.

export const config = {
  flow: { id: 'refund', role: 'entry', step: 'initiate-refund', emits: ['refund.initiated'] },
}

export default async function initiateRefund(input: { orderId: string; amount: number }, ctx: any) {
  await ctx.emit({ kind: 'refund.initiated', data: input })
  return { asked: true }
}
