/**
 * Errors on their way to the wire and back.
 */

import { ExecutionOver, RiverrunError } from './errors.ts'
import { isObject } from './json.ts'
import { executionOver, type Failure, type WireError } from './wire.ts'

/** An error is read by people: one that carries a whole document must not break the connection. */
const longestText = 64 * 1024

/** Members that a failure has by itself, or must not have. */
const ownMembers = new Set(['message', 'name', 'stack', 'cause', 'retriable', 'retryAfterMs', 'details', '__proto__'])

/** The failure of something that was thrown. */
export function describe(thrown: unknown): Failure {
  if (!isObject(thrown)) return { message: cut(String(thrown)) }
  const failure: Failure = { message: cut(typeof thrown.message === 'string' ? thrown.message : text(thrown)) }
  if (typeof thrown.code === 'string') failure.code = thrown.code
  if (typeof thrown.name === 'string') failure.name = thrown.name
  if (typeof thrown.stack === 'string') failure.stack = cut(withCauses(thrown.stack, thrown.cause))
  if (typeof thrown.retriable === 'boolean') failure.retriable = thrown.retriable
  const retryAfter = thrown.retryAfterMs ?? thrown.retryAfter
  if (isDelay(retryAfter)) failure.retryAfterMs = Math.round(retryAfter)
  if (thrown.details !== undefined && isSmallJson(thrown.details)) failure.details = thrown.details
  return failure
}

/** What is recorded of an error that code may catch, as the journal gives it back. */
export function recordOf(thrown: unknown): Failure {
  const members = isObject(thrown) ? membersOf(thrown) : {}
  return JSON.parse(JSON.stringify({ ...describe(thrown), ...(Object.keys(members).length > 0 && isSmallJson(members) && { members }) }))
}

/** The error that a failure stands for: its own message, name, stack and members, ours to throw. */
export function revive(failure: Failure): RiverrunError {
  const { message, code, name, stack, members, ...options } = failure
  // An empty code is none too.
  const error = new RiverrunError(code || 'HANDLER_ERROR', message, options)
  if (name) error.name = name
  if (stack) error.stack = stack
  return Object.assign(error, members)
}

/** The error that an answer of the server stands for, with the stack of who asked. */
export function refusal({ code: kind, message, data }: WireError): RiverrunError {
  const { code, details, retriable, retryAfterMs } = data ?? {}
  const ErrorClass = kind === executionOver ? ExecutionOver : RiverrunError
  return new ErrorClass(code ?? 'INTERNAL', message, { details, retriable, retryAfterMs })
}

/** The error of an answer: the stable code and all else that is optional stand in `data`. */
export function wireError(failure: Failure, code = -32000): WireError {
  const { message, ...data } = failure
  return { code, message, data }
}

/** Own members that have a form in JSON and are not part of the failure otherwise. */
function membersOf(thrown: Record<string, unknown>): Record<string, unknown> {
  const isMember = ([name, value]: [string, unknown]): boolean => !ownMembers.has(name) && (name !== 'code' || typeof value === 'number') && isSmallJson(value)
  return Object.fromEntries(Object.entries(thrown).filter(isMember))
}

function withCauses(stack: string, cause: unknown, depth = 0): string {
  if (!isObject(cause) || typeof cause.stack !== 'string' || depth === 5) return stack
  return `${stack}\ncaused by: ${withCauses(cause.stack, cause.cause, depth + 1)}`
}

function isDelay(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function cut(long: string): string {
  return long.length <= longestText ? long : `${long.slice(0, longestText)}…`
}

function isSmallJson(value: unknown): boolean {
  try {
    const json = JSON.stringify(value) as string | undefined
    return json !== undefined && json.length <= longestText
  } catch {
    return false
  }
}

function text(value: object): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return String(value)
  }
}
