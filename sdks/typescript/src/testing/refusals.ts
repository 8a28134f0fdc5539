/**
 * What the server refuses of a flow and of a wait: with its codes, so that a test finds it first.
 */

import { durationMs } from '../duration.ts'
import { RiverrunError } from '../errors.ts'
import type { Suspended } from '../wire.ts'
import { awaitIssues } from './awaits.ts'
import { expressionProblem } from './expression.ts'
import { payloadProblem } from './payload.ts'
import type { PlannedStep } from './plan.ts'
import { meant } from './words.ts'

/** No run waits for longer: ten years. */
export const longestMs = 10 * 366 * 24 * 60 * 60 * 1000

/** Families of events, and single types, that riverrun writes down by itself. */
const families = /^(flow|step|job)(\.|$)/
const written = new Set([
  'emit', 'progress', 'partial', 'log.debug', 'log.info', 'log.warn', 'log.error', 'state.set', 'state.delete', 'state.batch', 'state.snapshot',
  'trigger.registered', 'trigger.fired', 'trigger.timeout', 'trigger.cancelled', 'trigger.failed', 'worker.registered', 'worker.heartbeat', 'worker.stopped',
])

/** A flow that the server would not take in. All that is wrong is told at once. */
export function checkFlow(flow: string, steps: Map<string, PlannedStep>): void {
  const issues = [...steps.values()].flatMap((step) => [...issuesOf(step, [...steps.keys()])])
  if (!issues.length) return
  const told = issues.map(({ path, message }) => `${path}: ${message}`).join('; ')
  throw new RiverrunError('FLOW_INVALID', `flow ${flow} has ${issues.length} ${issues.length === 1 ? 'issue' : 'issues'}; ${told}`, { retriable: false, details: { issues } })
}

/** Why the server would not let code wait for this; undefined if it would. */
export function refusedWait(wait: Suspended, untilMs: number | undefined, nowMs: number): RiverrunError | undefined {
  if (wait.type === 'event' && isOwn(wait.eventKind)) {
    return refusal('BAD_KIND', `${wait.eventKind} is written by riverrun itself, and no run can wait for it: emit an event of your own, or have a trigger on it start a flow that does`)
  }
  if (wait.type === 'event' && !isKind(wait.eventKind)) return refusal('INPUT_ERROR', `${JSON.stringify(wait.eventKind)} is no kind of event`)
  if (untilMs !== undefined && untilMs > nowMs + longestMs) return refusal('INPUT_ERROR', `${dateText(untilMs)} is more than ten years away`)
  return undefined
}

export function usedDoor(): RiverrunError {
  return refusal('INPUT_ERROR', 'the step waits again for a trigger that was used: one for many is made with `many`')
}

export function tooManyAwaits(limit: number): RiverrunError {
  const message =
    `the step has waited ${limit} times in one visit, the most that its flow's limits.maxAwaits allows, and all that it did is read again after each: ` +
    'begin a run that goes on from here with ctx.start, and return'
  return refusal('MAX_AWAITS', message)
}

export function tooManySteps(limit: number): RiverrunError {
  return refusal('MAX_STEPS', `the run has made ${limit} steps, the most that its flow's limits.maxSteps allows: does a step feed itself?`)
}

interface Issue {
  path: string
  message: string
}

const most = { maxSteps: 10_000_000, maxAwaits: 1_000_000, maxValueBytes: 67_108_864, maxStateBytes: 67_108_864 }

function* issuesOf({ name, subscriptions, await: declared, compensation, limits }: PlannedStep, names: string[]): Generator<Issue> {
  const at = `steps.${name}`
  for (const [number, { eventKind, when, map }] of subscriptions.entries()) {
    yield* heard(`${at}.subscriptions.${number}.eventKind`, eventKind)
    yield* parses(`${at}.subscriptions.${number}.when`, when)
    yield* parses(`${at}.subscriptions.${number}.map`, map)
  }
  if (declared?.type === 'event') {
    yield* heard(`${at}.await.eventKind`, declared.eventKind)
    yield* parses(`${at}.await.where`, declared.where)
  }
  if (declared) yield* awaitIssues(`${at}.await`, declared)
  if (declared && 'onTimeout' in declared) yield* target(`${at}.await.onTimeout`, declared.onTimeout, names)
  for (const field of ['timeout', 'lookback'] as const) yield* duration(`${at}.await.${field}`, (declared as Record<string, unknown> | undefined)?.[field])
  if (declared?.type === 'time') yield* (typeof declared.delay === 'function' ? parses : duration)(`${at}.await.delay`, declared.delay)
  const problem = declared?.type === 'trigger' ? payloadProblem(declared.payload) : undefined
  if (problem !== undefined) yield { path: `${at}.await.payload`, message: problem }
  const many = declared?.type === 'trigger' ? declared.many : undefined
  if (many !== undefined && !(Number.isInteger(many) && many >= 2 && many <= 1000)) yield { path: `${at}.await.many`, message: `must be 2 to 1000, is ${String(many)}` }
  yield* target(`${at}.compensation.step`, compensation?.step, names)
  for (const kind of [compensation?.on ?? []].flat()) yield* heard(`${at}.compensation.on`, kind)
  for (const [limit, value] of Object.entries(limits ?? {})) {
    const top = most[limit as keyof typeof most]
    if (top && value !== undefined && !(Number.isInteger(value) && value >= 1 && value <= top)) yield { path: `limits.${limit}`, message: `must be 1 to ${top}, is ${String(value)}` }
  }
}

function* heard(path: string, kind: string): Generator<Issue> {
  if (isOwn(kind)) yield { path, message: `${kind} is written by riverrun itself, and never comes to a step: emit an event of your own, or have a trigger on it start a flow` }
  else if (!isKind(kind)) yield { path, message: `${JSON.stringify(kind)} is no kind of event` }
}

function* parses(path: string, expression: unknown): Generator<Issue> {
  const message = expressionProblem(expression)
  if (message !== undefined) yield { path, message }
}

function* target(path: string, name: string | undefined, names: string[]): Generator<Issue> {
  if (name !== undefined && !names.includes(name)) yield { path, message: `there is no step ${JSON.stringify(name)}${meant(name, names)}` }
}

function* duration(path: string, given: unknown): Generator<Issue> {
  const ms = typeof given === 'number' || typeof given === 'string' ? durationMs(given) : undefined
  if (ms !== undefined && ms > longestMs) yield { path, message: `${JSON.stringify(given)} is not between 0 and ten years` }
}

function isOwn(kind: string): boolean {
  return families.test(kind) || written.has(kind)
}

function isKind(kind: unknown): boolean {
  return typeof kind === 'string' && /^[A-Za-z0-9._:/-]{1,128}$/.test(kind)
}

function dateText(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? 'that' : date.toISOString()
}

function refusal(code: string, message: string): RiverrunError {
  return new RiverrunError(code, message, { retriable: false })
}
