/**
 * The steps of a flow, as the configs of processes tell of them: as the server puts flows together.
 */

import type { FlowConfig, FlowLimits, ProcessConfig, StepConfig, Subscription } from '../config.ts'
import { type Executable, type Handler, parts } from './execute.ts'
import { checkFlow } from './refusals.ts'
import { type Checks, checksOf } from './schemas.ts'
import { checkSettings } from './words.ts'

export interface PlannedStep extends StepConfig {
  name: string
  isEntry: boolean
  subscriptions: Subscription[]
  handler: Handler
  takes: 'input' | 'job'
  config: ProcessConfig
  /** Of the entry: how far a run may go. */
  limits?: FlowLimits
  checks?: Checks
}

export interface Planned {
  flow: string
  entry: PlannedStep
  steps: Map<string, PlannedStep>
}

/** A step, and the flow that it says it is part of; one that says none may be part of any. */
interface Part {
  flow: string | undefined
  step: PlannedStep
}

/** The flow that is asked for; else the one of the entry, the first that is named, or the one with the only beginning. */
export function plan(executables: Executable[] | Record<string, Executable>, { flow, entry }: { flow?: string; entry?: string }): Planned {
  const named = Array.isArray(executables) ? executables.map((one) => [undefined, one] as const) : Object.entries(executables)
  const all = named.flatMap(([key, one]) => partsOf(one, key))
  const begins = flow === undefined ? undefined : all.find((part) => part.flow === undefined && part.step.name === flow)
  const ids = new Set(all.flatMap((part) => part.flow ?? []))
  if (flow !== undefined && ids.size && !ids.has(flow) && !begins) throw new Error(`no step is part of the flow ${flow}; they name ${[...ids].join(', ')}`)
  const wanted = entry === undefined ? undefined : all.find(({ step }) => step.name === entry)
  const id = flow ?? (wanted ? (wanted.flow ?? wanted.step.name) : [...ids][0])
  const steps = stepsOf(all.filter((part) => part.flow === undefined || id === undefined || part.flow === id))
  const first = entryOf(steps, entry ?? begins?.step.name)
  checkFlow(id ?? first.name, steps)
  return { flow: id ?? first.name, entry: first, steps }
}

/** The process as a step of that flow, or of its first one. Undefined if it is part of other flows alone. */
export function plannedStep(executable: Executable, key: string | undefined, flow: string | undefined): PlannedStep | undefined {
  const all = partsOf(executable, key)
  return all.find((part) => flow === undefined || part.flow === undefined || part.flow === flow)?.step
}

/** Has the steps check what goes in and out. The state is the run's, and the schema of it the entry's. */
export async function withChecks(steps: Map<string, PlannedStep>, entry: PlannedStep, schemas: boolean | undefined): Promise<void> {
  const { state } = await checksOf({ state: entry.config.state }, schemas)
  for (const step of steps.values()) step.checks = { ...(await checksOf(step.config, schemas)), state }
}

function partsOf(executable: Executable, key: string | undefined): Part[] {
  const { handler, config, takes } = parts(executable)
  return roles(config).map((role) => {
    const { step, subscriptions = [], triggers = [], join, await: awaits, emits, compensation, onFailure, limits, role: as } = { ...config, ...role } as FlowConfig
    const name = step ?? key ?? (typeof config.queue === 'string' ? config.queue : undefined) ?? (handler.name === 'default' ? '' : handler.name)
    const heard = [...subscriptions, ...[triggers].flat().map((eventKind) => ({ eventKind }))]
    checkSettings(config, name)
    const planned: PlannedStep = { name, isEntry: as === 'entry', subscriptions: heard, handler, takes, config }
    return { flow: role.id, step: Object.assign(planned, given({ join, await: awaits, emits, compensation, onFailure, limits })) }
  })
}

function stepsOf(found: Part[]): Map<string, PlannedStep> {
  const steps = new Map<string, PlannedStep>()
  for (const { step } of found) {
    if (!step.name) throw new Error('a step needs a name: config.step, config.flow.step, or a key in an object of steps')
    if (steps.has(step.name)) throw new Error(`two steps are called ${step.name}`)
    steps.set(step.name, step)
  }
  return steps
}

/** Where runs begin: the step that says so, or the only one that no event enters and no step names. */
function entryOf(steps: Map<string, PlannedStep>, wanted: string | undefined): PlannedStep {
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
  const list = [flow ?? {}].flat()
  return list.map((one) => (typeof one === 'string' ? { id: one } : one))
}

function given<T extends object>(members: T): Partial<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>
}
