import type { PatchOptions, StateApi } from '../context.ts'
import { RiverrunError } from '../errors.ts'
import type { StepExecution } from './execution.ts'
import type { Read, Write } from './journal.ts'
import type { Link } from './link.ts'

/** What is said of a write beside what is written. */
type More = { inRun?: true }
type Change = (before: any) => unknown

/** The state of a run, seen from an invocation. In a step what it reads and writes is recorded. */
export class LinkState implements StateApi<any> {
  readonly #link: Link
  readonly #step: StepExecution | undefined

  constructor(link: Link, step?: StepExecution) {
    this.#link = link
    this.#step = step
  }

  get = async (key: string): Promise<any> => {
    const ask = async (): Promise<{ value?: unknown }> => valueOf(await this.#link.request('state.get', { key }))
    return (await this.#read('state.get', key, ask)).value
  }

  has = async (key: string): Promise<boolean> =>
    this.#read('state.has', key, async () => (await this.#link.request('state.has', { key })).has)

  getAll = async (): Promise<any> => this.#read('state.getAll', '', async () => (await this.#link.request('state.getAll', {})).state)

  set = async (key: string, value: unknown): Promise<void> => {
    if (value === undefined) throw new TypeError(`state.set(${JSON.stringify(key)}) needs a value; state.delete removes one`)
    await this.#write('state.set', key, { key, value }, value)
  }

  delete = async (key: string): Promise<void> => {
    await this.#write('state.delete', key, { key })
  }

  setBatch = async (values: Record<string, unknown>): Promise<void> => {
    await this.#write('state.setBatch', '', { values }, values)
  }

  patch = (first: string | Change, second?: Change | PatchOptions, third?: PatchOptions): Promise<any> =>
    typeof first === 'string'
      ? this.#patch('state.set', first, third, (more) => this.#patchKey(first, second as Change, more))
      : this.#patch('state.setBatch', '', second as PatchOptions | undefined, (more) => this.#patchAll(first, more))

  #read(op: Read, name: string, ask: () => Promise<any>): Promise<any> {
    return this.#step ? this.#step.read(op, name, ask) : ask()
  }

  async #write(op: Write, name: string, params: Record<string, unknown>, value?: unknown): Promise<void> {
    if (this.#step) await this.#step.write(op, name, params, value)
    else await this.#link.request(op, params)
  }

  #patch(op: Write, name: string, options: PatchOptions | undefined, attempt: (more: More) => Promise<unknown>): Promise<any> {
    if (!this.#step) return retrying(options, () => attempt({}))
    return this.#step.patch(op, name, (inRun) => retrying(options, () => attempt(inRun ? { inRun: true } : {})))
  }

  async #patchKey(key: string, change: Change, more: More): Promise<unknown> {
    const { value: before, version } = await this.#link.request('state.get', { key })
    const value = await change(before)
    if (value !== undefined) await this.#link.request('state.set', { key, value, ifVersion: version, ...more })
    return value
  }

  async #patchAll(change: Change, more: More): Promise<unknown> {
    const { state, version } = await this.#link.request('state.getAll', {})
    const values = await change(state)
    if (values !== undefined) await this.#link.request('state.setBatch', { values, ifVersion: version, ...more })
    return values
  }
}

/** What is recorded of an answer: nothing and null are two things. */
function valueOf({ value }: { value?: unknown }): { value?: unknown } {
  return value === undefined ? {} : { value }
}

async function retrying<T>(options: PatchOptions | undefined, attempt: () => Promise<T>): Promise<T> {
  const retries = options?.retries ?? 100
  for (let tried = 0; ; tried++) {
    try {
      return await attempt()
    } catch (error) {
      const conflict = error instanceof RiverrunError && error.code === 'STATE_CONFLICT'
      if (!conflict || tried >= retries) throw error
      // The first ones are mere chance; many in a row are a crowd, and a crowd needs spreading.
      if (tried >= 3) await pause(Math.random() * Math.min(2 ** tried, 200))
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
