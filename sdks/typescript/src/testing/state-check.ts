import { isObject } from '../json.ts'
import type { StandardSchema } from '../schema.ts'

export interface StateIssue {
  path: string
  message: string
}

/** A schema that can check by itself (zod and the like), or a function that lists what is wrong. */
export type StateCheck = StandardSchema<any> | ((state: Record<string, unknown>) => StateIssue[])

interface Outcome {
  issues?: readonly { message: string; path?: readonly (PropertyKey | { key: PropertyKey })[] }[]
}

/** What is wrong with a state. A key that was not written yet is not wrong: states grow. */
export function stateIssues(check: StateCheck | undefined, state: Record<string, unknown>): StateIssue[] {
  if (!check) return []
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
