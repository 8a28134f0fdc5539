import type { PatchOptions, StateApi } from '../context.ts'
import { RiverrunError } from '../errors.ts'
import type { Link } from './link.ts'

type Change = (before: any) => unknown

/** The state of a run, seen from an invocation. */
export class LinkState implements StateApi<any> {
  readonly #link: Link

  constructor(link: Link) {
    this.#link = link
  }

  get = async (key: string): Promise<any> => (await this.#link.request('state.get', { key })).value

  has = async (key: string): Promise<boolean> => (await this.#link.request('state.has', { key })).has

  getAll = async (): Promise<any> => (await this.#link.request('state.getAll', {})).state

  set = async (key: string, value: unknown): Promise<void> => {
    if (value === undefined) throw new TypeError(`state.set(${JSON.stringify(key)}) needs a value; state.delete removes one`)
    await this.#link.request('state.set', { key, value })
  }

  delete = async (key: string): Promise<void> => {
    await this.#link.request('state.delete', { key })
  }

  setBatch = async (values: Record<string, unknown>): Promise<void> => {
    await this.#link.request('state.setBatch', { values })
  }

  patch = (first: string | Change, second?: Change | PatchOptions, third?: PatchOptions): Promise<any> =>
    typeof first === 'string'
      ? retrying(third, () => this.#patchKey(first, second as Change))
      : retrying(second as PatchOptions | undefined, () => this.#patchAll(first))

  async #patchKey(key: string, change: Change): Promise<unknown> {
    const { value: before, version } = await this.#link.request('state.get', { key })
    const value = await change(before)
    if (value !== undefined) await this.#link.request('state.set', { key, value, ifVersion: version })
    return value
  }

  async #patchAll(change: Change): Promise<unknown> {
    const { state, version } = await this.#link.request('state.getAll', {})
    const values = await change(state)
    if (values !== undefined) await this.#link.request('state.setBatch', { values, ifVersion: version })
    return values
  }
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
