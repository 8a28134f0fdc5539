/**
 * A step through all of its waits: its handler is called again after each, as the server would.
 */

import type { Executable } from './execute.ts'
import { type FlowOptions, type FlowRun, type FlowWarning, sharedOptions, simulate, Simulation } from './flow.ts'
import { type PlannedStep, plannedStep, withChecks } from './plan.ts'
import { checkFlow } from './refusals.ts'
import type { VisitRun } from './visit.ts'
import { checkOptions } from './words.ts'

export interface StepOptions extends Omit<FlowOptions, 'entry'> {
  /** The name of the step; that in its config where absent. */
  step?: string
  /** What the await in its config has brought. Where absent that await is played first. */
  awaited?: unknown
}

export interface StepRun<Value = any> extends Omit<VisitRun<Value>, 'step' | 'visit' | 'input'> {
  /** Expressions that threw: what each was to judge was passed over. */
  warnings: FlowWarning[]
  state: Record<string, unknown>
  elapsedMs: number
  journal: { op: string; name?: string }[]
}

/** An error does not throw: it is in what comes back. */
export async function runStep<Value = any>(executable: Executable, options: StepOptions = {}): Promise<StepRun<Value>> {
  checkOptions('runStep', options, ['step', 'awaited', ...sharedOptions])
  const planned = plannedStep(executable, options.step ?? 'test', options.flow)
  if (!planned) throw new Error(`the process is no step of the flow ${options.flow}`)
  // Alone it is entered once, by nobody, and leads nowhere.
  const { compensation: _, ...step } = { ...planned, ...(options.step && { name: options.step }), subscriptions: [] }
  const steps = new Map<string, PlannedStep>([[step.name, step]])
  await withChecks(steps, step, options.schemas)
  checkFlow(flowOf(options, planned), withOnTimeout(steps, step))
  return simulate(options, async (clock) => {
    const simulation = new Simulation(flowOf(options, planned), steps, options, clock, { limits: step.limits })
    simulation.enter(step, options.input)
    const visit = simulation.visits[0] as (typeof simulation.visits)[number]
    if (options.awaited !== undefined) visit.awaited = options.awaited
    const { state, elapsedMs, warnings }: FlowRun = await simulation.play()
    const { step: _step, visit: _visit, input: _input, ...report } = visit.report()
    return { ...report, warnings, state, elapsedMs, journal: visit.memory.journal }
  })
}

function flowOf({ flow }: StepOptions, { config, name }: PlannedStep): string {
  if (flow !== undefined) return flow
  const first = [config.flow].flat()[0]
  return (typeof first === 'object' ? first.id : first) ?? name
}

/** The step that a timeout leads to is not played: that it was entered is seen by the status. */
function withOnTimeout(steps: Map<string, PlannedStep>, { await: declared }: PlannedStep): Map<string, PlannedStep> {
  const name = declared && 'onTimeout' in declared ? declared.onTimeout : undefined
  if (name !== undefined && !steps.has(name)) {
    steps.set(name, { name, isEntry: false, subscriptions: [], handler: () => null, takes: 'input', config: {} })
  }
  return steps
}
