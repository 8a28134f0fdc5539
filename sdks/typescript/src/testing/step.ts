/**
 * A step through all of its waits: its handler is called again after each, by the real engine.
 */

import type { ProcessConfig } from '../config.ts'
import { isObject } from '../json.ts'
import { type Executable, parts } from './execute.ts'
import { type FlowOptions, type FlowWarning, type Recorded, sharedOptions, simulate, type Step, type VisitRun } from './flow.ts'
import { checkOptions } from './words.ts'

export interface StepOptions extends Omit<FlowOptions, 'entry'> {
  /** The name of the step; that in its config where absent. */
  step?: string
  /** The result of the await in its config. Without it, the await is executed first. */
  awaited?: unknown
}

export interface StepRun<Value = any> extends Omit<VisitRun<Value>, 'step' | 'visit' | 'input'> {
  /** Expressions that threw: what each was to judge was passed over. */
  warnings: FlowWarning[]
  state: Record<string, unknown>
  elapsedMs: number
  journal: { op: string; name?: string }[]
}

/** An error is not thrown; the result contains it. */
export async function runStep<Value = any>(executable: Executable, options: StepOptions = {}): Promise<StepRun<Value>> {
  checkOptions('runStep', options, ['step', 'awaited', ...sharedOptions])
  const { step: wanted, flow, ...rest } = options
  const { handler, config, takes } = parts(executable)
  const roles = [config.flow].flat().map((one) => (typeof one === 'string' ? { id: one } : isObject(one) ? one : {})) as { id?: string; step?: string; limits?: object; await?: unknown }[]
  const role = roles.find(({ id }) => flow === undefined || id === undefined || id === flow)
  if (!role) throw new Error(`the process is no step of the flow ${flow}`)
  const name = wanted ?? role.step ?? config.step ?? 'test'
  const awaits = role.await ?? config.await
  // Alone it is the entry and has no transitions; a timeout leads to a step that does nothing.
  const { subscriptions: _s, triggers: _t, compensation: _c, await: _a, join: _j, emits: _e, flow: _f, step: _n, onFailure: _o, ...own } = config as ProcessConfig & Record<string, unknown>
  const declared = options.awaited === undefined && awaits ? { await: awaits } : {}
  const id = flow ?? role.id ?? name
  const alone = { ...own, flow: { id, role: 'entry', step: name, ...(role.limits && { limits: role.limits }) }, ...declared } as ProcessConfig
  const late = isObject(awaits) && options.awaited === undefined && typeof awaits.onTimeout === 'string' ? awaits.onTimeout : undefined
  const steps: Step[] = [{ name, handler, config: alone, takes }]
  if (late !== undefined && late !== name) steps.push({ name: late, handler: () => null, config: { flow: { id, role: 'step', step: late } } as ProcessConfig, takes: 'input' })
  const { visits, state, elapsedMs, warnings } = await simulate(steps, { ...rest, flow: id })
  const { step: _step, visit: _visit, input: _input, ...report } = visits[0] as Recorded
  return { ...report, warnings, state, elapsedMs }
}
