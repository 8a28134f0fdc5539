/**
 * The steps of a flow, as the configs of processes tell of them.
 */

import type { FlowConfig, ProcessConfig, StepConfig, Subscription } from '../config.ts'
import { type Executable, type Handler, parts } from './execute.ts'

export interface PlannedStep extends StepConfig {
  name: string
  isEntry: boolean
  subscriptions: (Subscription & { eventKind: string })[]
  handler: Handler
  takes: 'input' | 'job'
  config: ProcessConfig
}

/** A step for each process that takes part in the flow; in the first flow that they name where none is given. */
export function plan(executables: Executable[] | Record<string, Executable>, flow: string | undefined): { flow: string; steps: Map<string, PlannedStep> } {
  const named = Array.isArray(executables) ? executables.map((one) => [undefined, one] as const) : Object.entries(executables)
  const ids = named.flatMap(([, one]) => roles(parts(one).config).map(({ id }) => id))
  const id = flow ?? ids[0] ?? 'test'
  if (flow !== undefined && ids.length && !ids.includes(flow)) throw new Error(`no step is part of the flow ${flow}; they name ${[...new Set(ids)].join(', ')}`)
  const steps = new Map<string, PlannedStep>()
  for (const [key, executable] of named) {
    const step = plannedStep(executable, key, id)
    if (!step) continue
    if (steps.has(step.name)) throw new Error(`two steps are called ${step.name}`)
    steps.set(step.name, step)
  }
  return { flow: id, steps }
}

/** Undefined if the process is part of other flows alone. */
export function plannedStep(executable: Executable, key: string | undefined, flow: string | undefined): PlannedStep | undefined {
  const { handler, config, takes } = parts(executable)
  const all = roles(config)
  const role = all.find(({ id }) => flow === undefined || id === flow)
  if (!role && all.length) return undefined
  const { step, subscriptions, join, await: awaits, emits, compensation, onFailure } = { ...config, ...role }
  const name = step ?? key ?? (typeof config.queue === 'string' ? config.queue : undefined) ?? (handler.name === 'default' ? '' : handler.name)
  if (!name) throw new Error('a step needs a name: config.step, config.flow.step, or a key in an object of steps')
  const planned: PlannedStep = { name, isEntry: role?.role === 'entry', subscriptions: (subscriptions ?? []).map(subscription), handler, takes, config }
  return Object.assign(planned, given({ join, await: awaits, emits, compensation, onFailure }))
}

/** Where runs begin: the step that says so, or the only one that no event enters. */
export function entryOf(steps: Map<string, PlannedStep>, wanted: string | undefined): PlannedStep {
  const found = wanted === undefined ? undefined : steps.get(wanted)
  if (wanted !== undefined && !found) throw new Error(`there is no step ${wanted}; there are ${[...steps.keys()].join(', ')}`)
  if (found) return found
  const all = [...steps.values()]
  const entries = all.filter(({ isEntry }) => isEntry)
  const led = new Set(all.flatMap((step) => [step.compensation?.step, step.await && 'onTimeout' in step.await ? step.await.onTimeout : undefined]))
  const candidates = entries.length ? entries : all.filter(({ name, subscriptions }) => !subscriptions.length && !led.has(name))
  const [only] = candidates
  if (candidates.length !== 1 || !only) throw new Error(`it is not clear where the flow begins (${candidates.map(({ name }) => name).join(', ') || 'no step'}): give entry`)
  return only
}

function roles({ flow }: ProcessConfig): FlowConfig[] {
  const list = flow === undefined ? [] : Array.isArray(flow) ? flow : [flow]
  return list.map((one) => (typeof one === 'string' ? { id: one } : one))
}

function subscription(given: Subscription): Subscription & { eventKind: string } {
  const { when } = given
  const kind = given.eventKind ?? (typeof when === 'object' && typeof when.kind === 'string' ? when.kind : undefined)
  if (kind === undefined) throw new Error('runFlow plays subscriptions to one kind of event: give eventKind')
  return { ...given, eventKind: kind }
}

function given<T extends object>(members: T): Partial<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>
}
