import { isObject } from '../json.ts'
import type { StandardSchema } from '../schema.ts'
import type { Check } from './json-schema.ts'

export interface StateIssue {
  path: string
  message: string
}

/** A schema that can check by itself (zod and the like), or a function that lists what is wrong. */
export type StateCheck = StandardSchema<any> | ((state: Record<string, unknown>) => StateIssue[])

/** What a write would break. */
export type WriteCheck = (before: Record<string, unknown>, after: Record<string, unknown>) => StateIssue[]

interface Outcome {
  issues?: readonly { message: string; path?: readonly (PropertyKey | { key: PropertyKey })[] }[]
}

/** By what a test asks for, or else by the schema of the config. */
export function writeCheck(given: StateCheck | undefined, schema: Check | undefined): WriteCheck {
  if (given) return (_, after) => stateIssues(given, after)
  if (schema) return (before, after) => newIssues(schema, before, after)
  return () => []
}

/** What is wrong with a state that was not wrong before. Keys that it does not have yet may still come. */
function newIssues(schema: Check, before: Record<string, unknown>, after: Record<string, unknown>): StateIssue[] {
  const issues = schema(after).filter(({ path, rule }) => rule !== 'required' || path.includes('.'))
  if (!issues.length) return issues
  const old = new Set(schema(before).map((issue) => JSON.stringify(issue)))
  return issues.filter((issue) => !old.has(JSON.stringify(issue)))
}

/** What is wrong with a state. A key that was not written yet is not wrong: states grow. */
function stateIssues(check: StateCheck, state: Record<string, unknown>): StateIssue[] {
  if (!('~standard' in check)) return check(state)
  const { validate } = check['~standard'] as unknown as { validate(value: unknown): Outcome | Promise<Outcome> }
  const outcome = validate(state)
  if (outcome instanceof Promise) throw new TypeError('a state schema must not be asynchronous')
  const issues = (outcome.issues ?? []).map(({ message, path = [] }) => ({
    path: path.map((part) => String(isObject(part) ? part.key : part)),
    message,
  }))
  return issues
    .filter(({ path }) => path[0] === undefined || path[0] in state)
    .map(({ path, message }) => ({ path: path.join('.'), message }))
}
