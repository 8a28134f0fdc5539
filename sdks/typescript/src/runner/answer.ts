/**
 * What a handler returned, as the text of an answer.
 */

import { RiverrunError } from '../errors.ts'
import { describe } from '../failure.ts'

/** JSON text of a value. Throws if there is none, or if it is too long. */
export function valueText(value: unknown, limitBytes: number): string {
  const text = stringify(value)
  if (text.length * 3 > limitBytes) {
    const bytes = Buffer.byteLength(text)
    if (bytes > limitBytes) {
      throw new RiverrunError('RESULT_TOO_LARGE', `the result has ${bytes} bytes, ${limitBytes} are allowed`, {
        retriable: false,
        details: { bytes, limit: limitBytes },
      })
    }
  }
  return text
}

/** The answer of a batch: a list is one result for each job, anything else is the result of all. */
export function batchText(value: unknown, jobs: number, limitBytes: number): string {
  if (!Array.isArray(value)) return `{"value":${valueText(value, limitBytes)}}`
  if (value.length !== jobs) {
    throw new RiverrunError('BATCH_RESULTS', `the handler returned ${value.length} results for ${jobs} jobs`, { retriable: false })
  }
  return `{"results":[${value.map((one) => entryText(one, limitBytes)).join(',')}]}`
}

function entryText(one: unknown, limitBytes: number): string {
  if (one instanceof Error) return `{"error":${JSON.stringify(describe(one))}}`
  try {
    return `{"value":${valueText(one, limitBytes)}}`
  } catch (error) {
    return `{"error":${JSON.stringify(describe(error))}}`
  }
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
