/**
 * Words that mean nothing, in a config or in what a test asks for: a slip that is passed over in
 * silence makes a test of something else. The server refuses the same in a config.
 */

import { RiverrunError } from '../errors.ts'
import { isObject } from '../json.ts'

/** How like a known word another must be to be taken for a slip of it. */
const likeness = 0.8

const step = ['step', 'subscriptions', 'triggers', 'join', 'await', 'emits', 'compensation', 'onFailure', 'version', 'role', 'id']
const flow = [...step, 'limits']

/** The settings of a process, as the server knows them. */
const settings = [
  'runMode', 'queue', 'concurrency', 'keyConcurrency', 'rateLimit', 'retry', 'retryPolicy', 'dlq', 'timeoutMs', 'idempotencyKey', 'idempotencyWindowMs',
  'idempotency', 'key', 'throttle', 'debounce', 'batch', 'inputSchema', 'outputSchema', 'state', 'persistFrames', 'logs', 'flow', 'name',
  'description', 'metadata', 'tags', 'logger', ...step,
]

/** What stands in a setting, older names included. `[]`: in each of a list. */
const members: Record<string, string[]> = {
  queue: ['name', 'concurrency'],
  rateLimit: ['max', 'durationMs'],
  retry: ['maxAttempts', 'backoffMs', 'backoffMultiplier', 'maxBackoffMs', 'retryOn', 'jitter', 'onFail'],
  retryPolicy: ['attempts', 'backoff', 'onFail', 'retriableErrors'],
  'retryPolicy.backoff': ['type', 'delayMs', 'maxDelayMs', 'jitter', 'delay', 'capMs'],
  dlq: ['enabled', 'queue'],
  idempotency: ['key', 'windowMs'],
  throttle: ['windowMs', 'key', 'durationMs'],
  debounce: ['delayMs', 'key', 'durationMs', 'windowMs'],
  batch: ['size', 'waitMs', 'max', 'timeoutMs'],
  logs: ['maxLines', 'maxBytes'],
  flow,
  'flow.limits': ['maxSteps', 'maxAwaits', 'maxValueBytes', 'maxStateBytes'],
  subscriptions: ['eventKind', 'when', 'map'],
  await: ['type', 'delay', 'eventKind', 'where', 'match', 'triggerType', 'payload', 'secretEnv', 'many', 'timeout', 'onTimeout', 'lookback'],
  compensation: ['step', 'on'],
}

/** Refuses a config that has a setting which the server does not know. */
export function checkSettings(config: object, name: string): void {
  const issues = strangers(config, settings, '', '')
  if (!issues.length) return
  const listed = issues.map(({ path, message }) => `${path}: ${message}`).join('; ')
  throw new RiverrunError('PROCESS_INVALID', `the config of ${name || 'a step'} has ${issues.length} ${issues.length === 1 ? 'issue' : 'issues'}; ${listed}`, { retriable: false, details: { issues } })
}

/** Refuses options of a function that it does not have. */
export function checkOptions(what: string, options: object, known: readonly string[]): void {
  const stranger = Object.entries(options).find(([word, value]) => value !== undefined && !known.includes(word))?.[0]
  if (stranger !== undefined) throw new TypeError(`${what} has no option ${stranger}${meant(stranger, known) || `: it knows ${known.join(', ')}`}`)
}

/** What somebody meant who wrote this, as the end of a sentence. */
export function meant(word: string, known: readonly string[]): string {
  const [nearest] = known.map((one) => ({ one, like: jaroWinkler(one, word) })).sort((a, b) => b.like - a.like)
  return nearest && nearest.like >= likeness ? `; did you mean ${nearest.one}?` : ''
}

interface Issue {
  path: string
  message: string
}

function strangers(value: object, known: string[], path: string, place: string): Issue[] {
  return Object.entries(value).flatMap(([word, member]): Issue[] => {
    if (member === undefined) return []
    if (!known.includes(word)) return [{ path: path + word, message: `is not a setting${elsewhere(word, path) || meant(word, known)}` }]
    // What is said of a step means the same at the top and in a flow.
    const inner = members[place + word] ? place + word : place === 'flow.' ? word : place + word
    const each = Array.isArray(member) ? member.map((one, at): [string, unknown] => [`${path}${word}.${at}.`, one]) : [[`${path}${word}.`, member] as [string, unknown]]
    return each.flatMap(([below, one]) => (members[inner] && isObject(one) ? strangers(one, members[inner], below, `${inner}.`) : []))
  })
}

function elsewhere(word: string, path: string): string {
  return word === 'limits' && path === '' ? ': it belongs into flow, as flow: { limits }' : ''
}

/** 0 for words that have nothing in common, 1 for the same. */
function jaroWinkler(one: string, other: string): number {
  const reach = Math.max(0, Math.floor(Math.max(one.length, other.length) / 2) - 1)
  const taken = new Set<number>()
  const common: string[] = []
  for (let at = 0; at < one.length; at += 1) {
    const low = Math.max(0, at - reach)
    const found = [...other.slice(low, at + reach + 1)].findIndex((letter, place) => letter === one[at] && !taken.has(low + place))
    if (found < 0) continue
    taken.add(low + found)
    common.push(one[at] as string)
  }
  if (!common.length) return 0
  const theirs = [...taken].sort((a, b) => a - b).map((at) => other[at])
  const swapped = common.filter((letter, at) => letter !== theirs[at]).length / 2
  const jaro = (common.length / one.length + common.length / other.length + (common.length - swapped) / common.length) / 3
  let prefix = 0
  while (prefix < 4 && one[prefix] !== undefined && one[prefix] === other[prefix]) prefix += 1
  return jaro + prefix * 0.1 * (1 - jaro)
}
