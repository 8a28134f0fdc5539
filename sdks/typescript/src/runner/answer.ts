/**
 * What a handler returned, as the text of an answer.
 */

import { RiverrunError } from '../errors.ts'
import { describe } from '../failure.ts'
import type { Limits } from '../wire.ts'

/** What an answer has around its result, at most. */
const envelopeBytes = 64

/** JSON text of a value. Throws if there is none, or if it is too long. */
export function valueText(value: unknown, limitBytes: number): string {
  return within(stringify(value), limitBytes)
}

/** The answer of a batch: a list is one result for each job, anything else is the result of all. */
export function batchText(value: unknown, jobs: number, { resultBytes, messageBytes }: Limits): string {
  if (!Array.isArray(value)) return `{"value":${valueText(value, resultBytes)}}`
  if (value.length !== jobs) {
    throw new RiverrunError('BATCH_RESULTS', `the handler returned ${value.length} results for ${jobs} jobs`, { retriable: false })
  }
  const text = `{"results":[${value.map((one) => entryText(one, resultBytes)).join(',')}]}`
  return within(text, messageBytes - envelopeBytes)
}

function entryText(one: unknown, limitBytes: number): string {
  if (one instanceof Error) return `{"error":${JSON.stringify(describe(one))}}`
  try {
    return `{"value":${valueText(one, limitBytes)}}`
  } catch (error) {
    return `{"error":${JSON.stringify(describe(error))}}`
  }
}

function within(text: string, limitBytes: number): string {
  // A character takes three bytes at most: counting them is only needed near the limit.
  if (text.length * 3 <= limitBytes) return text
  const bytes = Buffer.byteLength(text)
  if (bytes <= limitBytes) return text
  throw new RiverrunError('RESULT_TOO_LARGE', `the result has ${bytes} bytes, ${limitBytes} are allowed`, {
    retriable: false,
    details: { bytes, limit: limitBytes },
  })
}

function stringify(value: unknown): string {
  if (value === undefined) return 'null'
  let reason = `a ${typeof value} has no form in JSON`
  try {
    const text = JSON.stringify(value) as string | undefined
    if (text !== undefined) return text
  } catch (error) {
    reason = (error as Error).message.split('\n', 1)[0] as string
  }
  throw new RiverrunError('RESULT_NOT_JSON', `the result is not JSON: ${reason}`, { retriable: false })
}
