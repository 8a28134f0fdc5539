/**
 * What whoever opens a declared door is shown: what a function gives, or JSON with parts of the
 * step's input and of the run's state.
 */

import { RiverrunError } from '../errors.ts'
import { describe } from '../failure.ts'
import { isObject } from '../json.ts'
import { source } from '../source.ts'
import { evaluate } from './expression.ts'
import { resolveTemplate, templateProblem } from './template.ts'

/** What a payload is made of. */
export interface PayloadContext {
  input: unknown
  state: Record<string, unknown>
  runId: string
}

/** What is shown, or why the step fails. */
export function shownPayload(declared: unknown, ctx: PayloadContext): { payload: unknown } | RiverrunError {
  const written = asWritten(declared)
  if (written === undefined) return { payload: undefined }
  // A state that has an `input` of its own hides the step's.
  if (!isFunction(written)) return { payload: copy(resolveTemplate(written, { input: ctx.input, ...ctx.state })) ?? null }
  try {
    return { payload: copy(evaluate(written, { ctx: copy(ctx) })) ?? null }
  } catch (error) {
    if (error instanceof RiverrunError) throw error
    return new RiverrunError('INPUT_ERROR', `payload: ${describe(error).message}`, { retriable: false })
  }
}

/** Why the server would not take a payload in; undefined if it would. */
export function payloadProblem(declared: unknown): string | undefined {
  const written = asWritten(declared)
  return isFunction(written) ? undefined : templateProblem(written)
}

/** A payload as the server reads it: functions are their text. */
function asWritten(declared: unknown): unknown {
  const written = JSON.stringify(declared, (_, value) => {
    if (typeof value === 'function') return source(value)
    return isObject(value) && typeof value.$function === 'string' ? value.$function : value
  })
  return written === undefined ? undefined : JSON.parse(written)
}

/** Whether a text is a function, as the server tells them: by its head. */
function isFunction(written: unknown): written is string {
  if (typeof written !== 'string') return false
  const text = written.trimStart()
  const arrow = text.indexOf('=>')
  const head = arrow < 0 ? '' : text.slice(0, arrow).trim()
  return /^([\p{Alphabetic}\p{N}_$]+|\(.*\))$/su.test(head) || /^function[ (]/.test(text)
}

function copy<T>(value: T): T {
  const text = JSON.stringify(value)
  return text === undefined ? (undefined as T) : JSON.parse(text)
}
