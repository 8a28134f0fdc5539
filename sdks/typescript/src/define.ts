/**
 * How a module says what it is. None of these does more than mark what it was given: a runner
 * finds the mark, and a test can call the handler as a function.
 */

import type { Batch, ProcessConfig } from './config.ts'
import type { Context, Job, StepContext } from './context.ts'

/** Shared by all copies of this package in a process. */
const mark = Symbol.for('riverrun.process')

export type ProcessHandler<Input = any, State extends object = any, Output = any> = (
  input: Input,
  ctx: Context<State>,
) => Output | Promise<Output>

export type WorkerHandler<Data = any, State extends object = any, Output = any> = (
  job: Job<Data>,
  ctx: Context<State>,
) => Output | Promise<Output>

interface Mark {
  takes: 'input' | 'job'
  config: ProcessConfig | undefined
}

/**
 * What a handler of batches may return: a list with one entry for each job, in which an error is
 * that job's error, or anything else as the result of all.
 */
export type BatchHandler<Item, State extends object> = (items: Item[], ctx: Context<State>) => unknown

type BatchConfig<Input, State extends object> = ProcessConfig<Input, State> & { batch: Batch }

/** A queue worker: its handler gets the job, or a list of jobs if the config has `batch`. */
export function defineQueueWorker<Data = any, State extends object = any>(
  handler: BatchHandler<Job<Data>, State>,
  config: BatchConfig<Data, State>,
): BatchHandler<Job<Data>, State>
export function defineQueueWorker<Data = any, State extends object = any, Output = any>(
  handler: WorkerHandler<Data, State, Output>,
  config?: ProcessConfig<Data, State, Output>,
): WorkerHandler<Data, State, Output>
export function defineQueueWorker(handler: (...args: any[]) => unknown, config?: ProcessConfig): (...args: any[]) => any {
  return marked(handler, { takes: 'job', config })
}

/** A process of any kind: its handler gets the input, or a list of inputs if the config has `batch`. */
export function defineProcess<Input = any, State extends object = any>(
  handler: BatchHandler<Input, State>,
  config: BatchConfig<Input, State>,
): BatchHandler<Input, State>
export function defineProcess<Input = any, State extends object = any, Output = any>(
  handler: ProcessHandler<Input, State, Output>,
  config?: ProcessConfig<Input, State, Output>,
): ProcessHandler<Input, State, Output>
export function defineProcess(handler: (...args: any[]) => unknown, config?: ProcessConfig): (...args: any[]) => any {
  return marked(handler, { takes: 'input', config })
}

export type StepHandler<Input = any, State extends object = any, Output = any> = (
  input: Input,
  ctx: StepContext<State>,
) => Output | Promise<Output>

/** A step of a flow: its config says of which, and which events enter it. */
export function defineStep<Input = any, State extends object = any, Output = any>(
  handler: StepHandler<Input, State, Output>,
  config?: ProcessConfig<Input, State, Output>,
): StepHandler<Input, State, Output> {
  return marked(handler as (...args: any[]) => unknown, { takes: 'input', config }) as StepHandler<Input, State, Output>
}

/** Gives back the config as it is, with its types checked: `export const config = defineQueueConfig({…})`. */
export function defineQueueConfig<const Config extends ProcessConfig>(config: Config): Config {
  return config
}

/** What a value was defined as; undefined for anything that was not. */
export function definition(value: unknown): Mark | undefined {
  return typeof value === 'function' ? (value as { [mark]?: Mark })[mark] : undefined
}

function marked(handler: (...args: any[]) => unknown, as: Mark): (...args: any[]) => unknown {
  // One function may be defined twice, with two configs: each definition is a function of its own.
  const own = (first: unknown, ctx: unknown) => handler(as.takes === 'job' ? leased(first, ctx as Context) : first, ctx)
  Object.defineProperty(own, mark, { value: as })
  Object.defineProperty(own, 'name', { value: handler.name })
  return own
}

/** Gives each job its `isLeaseValid`; it is not listed, so that a job can still be compared and copied. */
function leased(first: unknown, ctx: Context): unknown {
  const give = (job: unknown, of: () => Context): void => {
    if (typeof job !== 'object' || job === null || !Object.isExtensible(job)) return
    Object.defineProperty(job, 'isLeaseValid', { value: () => of().isLeaseValid(), configurable: true })
  }
  if (Array.isArray(first)) first.forEach((job, at) => give(job, () => ctx.job(at)))
  else give(first, () => ctx)
  return first
}
