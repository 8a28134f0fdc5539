// Charges, reserves and ships; each effect is noted in a ledger outside before it counts.
import { appendFileSync } from 'node:fs'

export const config = { retryPolicy: { attempts: 3, backoff: { type: 'fixed', delayMs: 50 } } }

export default async function (input, ctx) {
  const note = (name, what) => appendFileSync(input.ledger, `${JSON.stringify({ run: ctx.runId, name, what })}\n`)
  const once = async (name) => {
    await ctx.run(name, () => note(name, 'done'))
    note(name, 'recorded')
  }
  await once(NAME)
  try {
    const backoff = { type: 'fixed', delayMs: input.backoffMs }
    const reserve = ({ attempt }) => {
      note('reserve', attempt <= input.failures ? 'failed' : 'done')
      if (attempt <= input.failures) throw new Error('busy')
    }
    await ctx.run('reserve', reserve, { retry: { attempts: 4, backoff } })
    note('reserve', 'recorded')
  } catch (error) {
    await once('refund')
    throw error
  }
  const paid = await ctx.await.event({ kind: 'torture.order.paid', match: { 'data.key': input.key } })
  await once('ship')
  return { paid: paid.data.key }
}
