/**
 * What an await in a config says, as the server reads it: the fields of its type, the values that
 * its `match` names.
 */

import type { AwaitConfig } from '../config.ts'
import { RiverrunError } from '../errors.ts'
import { isObject } from '../json.ts'
import { getAt } from '../live/path.ts'

/** The fields that mean nothing in an await of a type. */
const strange: Record<AwaitConfig['type'], string[]> = {
  event: ['delay', 'triggerType', 'payload', 'secretEnv', 'many'],
  trigger: ['delay', 'eventKind', 'where', 'match', 'lookback'],
  time: ['eventKind', 'where', 'match', 'lookback', 'triggerType', 'payload', 'secretEnv', 'many'],
}

const signsNothing = 'a person who answers on a page signs nothing: take triggerType webhook or api where bodies must be signed, or leave the secret out'

/** What an event has when awaits are held against it. */
const envelope = ['data', 'type', 'kind', 'runId', 'flowName', 'stepName', 'stepId', 'attempt', 'correlationId', 'causationId', 'tenantId', 'chain']

interface Issue {
  path: string
  message: string
}

/** Why the server would not take the await in, if it would not. */
export function* awaitIssues(at: string, declared: AwaitConfig): Generator<Issue> {
  const said: Record<string, unknown> = { ...declared }
  for (const field of strange[declared.type] ?? []) {
    if (said[field] !== undefined && said[field] !== null) yield { path: `${at}.${field}`, message: `an await of the type ${declared.type} has no ${field}` }
  }
  const { triggerType, secretEnv, match } = said
  if (declared.type === 'trigger' && triggerType === 'user' && typeof secretEnv === 'string') yield { path: `${at}.secretEnv`, message: signsNothing }
  for (const [path, from] of isObject(match) ? Object.entries(match) : []) yield* matched(`${at}.match.${path}`, path, from)
}

/** What must stand at the paths of a declared `match`, or why the step fails. */
export function wantedValues(match: Record<string, unknown>, ctx: { input: unknown; state: unknown }): Record<string, unknown> | RiverrunError {
  const wanted: [string, unknown][] = []
  for (const [path, from] of Object.entries(match)) {
    const value = typeof from === 'string' ? getAt(ctx, from) : isObject(from) && Object.hasOwn(from, 'value') ? from.value : from
    if (value === undefined) return new RiverrunError('INPUT_ERROR', `match has no value for ${JSON.stringify(path)}: there is no ${String(from)}`, { retriable: false })
    wanted.push([path, value])
  }
  return Object.fromEntries(wanted)
}

/** A part of the event, and what it must equal. */
function* matched(at: string, path: string, from: unknown): Generator<Issue> {
  const [head = ''] = path.split('.')
  if (!envelope.includes(head)) yield { path: at, message: `no event has ${JSON.stringify(head)}: what was emitted stands below data, as in "data.${path}"` }
  if (typeof from !== 'string' || from === 'input' || /^(input|state)\./.test(from)) return
  yield { path: at, message: `${JSON.stringify(from)} is no path into input or state, such as "input.${from}": for the text itself write {"value": ${JSON.stringify(from)}}` }
}
