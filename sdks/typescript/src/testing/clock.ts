/**
 * Time under control: timers and `Date` of this process, until `restore`. Timers fire in their
 * order, and promises settle in between, so a handler that waits for a day is done at once.
 */

import { createRequire, syncBuiltinESMExports } from 'node:module'
import { promisify } from 'node:util'

type Callback = (...args: any[]) => void

interface Timer {
  id: number
  atMs: number
  everyMs: number | undefined
  fire: () => void
}

/** Made before anything is replaced. */
const real = { setImmediate: globalThis.setImmediate, Date: globalThis.Date, now: performance.now.bind(performance) }

/** The clock that is in charge of this process. */
let installed: FakeClock | undefined

const require = createRequire(import.meta.url)

export class FakeClock {
  #nowMs: number
  #startMs: number
  #lastId = 0
  /** Called when a timer is set. */
  onTimer: () => void = () => {}
  readonly #timers = new Map<number, Timer>()
  readonly #undo: (() => void)[] = []

  constructor(now: Date | number | string = 0) {
    this.#nowMs = this.#startMs = new real.Date(now).getTime()
  }

  get now(): number {
    return this.#nowMs
  }

  /** Takes over `setTimeout`, `setInterval`, `Date`, `performance.now` and their modules. */
  install(): this {
    if (installed) throw new Error('a fake clock is in charge already: give it as clock, or restore it first')
    installed = this
    const timers = {
      setTimeout: this.#setTimeout(),
      setInterval: (callback: Callback, ms?: number, ...args: unknown[]) => this.#add(callback, ms, args, true),
      clearTimeout: (timer: unknown) => this.#clear(timer),
      clearInterval: (timer: unknown) => this.#clear(timer),
    }
    this.#replace(globalThis, { ...timers, Date: this.#date() })
    this.#replace(performance, { now: () => this.#nowMs - this.#startMs })
    this.#replace(require('node:timers'), timers)
    this.#replace(require('node:timers/promises'), { setTimeout: this.#sleep, setInterval: this.#ticks() })
    syncBuiltinESMExports()
    return this
  }

  restore(): void {
    if (installed === this) installed = undefined
    for (const undo of this.#undo.splice(0).reverse()) undo()
    this.#timers.clear()
    syncBuiltinESMExports()
  }

  /** It is this late at once, and never earlier than it was. Timers that are due fire when somebody waits. */
  jump(toMs: number): void {
    this.#nowMs = Math.max(this.#nowMs, toMs)
  }

  /** Lets `ms` pass: fires every timer that comes due, in order, and lets promises settle. */
  async advance(ms: number): Promise<void> {
    const until = this.#nowMs + ms
    await breathe()
    for (let timer = this.#next(until); timer; timer = this.#next(until)) {
      this.#fire(timer)
      await breathe()
    }
    this.#nowMs = until
  }

  /** Lets time pass until a promise settles: from timer to timer, as far as there are any. */
  async run<T>(promise: Promise<T>): Promise<T> {
    let pending = true
    const done = (): void => void (pending = false)
    promise.then(done, done)
    await breathe()
    while (pending) {
      const timer = this.#next(Infinity)
      if (timer) this.#fire(timer)
      // Without a timer it is the outside world that is waited for.
      await breathe()
    }
    return promise
  }

  /** When the next timer is due; undefined if there is none. */
  nextTimerMs(): number | undefined {
    return this.#next(Infinity)?.atMs
  }

  fireNext(): void {
    const timer = this.#next(Infinity)
    if (timer) this.#fire(timer)
  }

  #next(untilMs: number): Timer | undefined {
    let next: Timer | undefined
    for (const timer of this.#timers.values()) {
      if (timer.atMs <= untilMs && (!next || timer.atMs < next.atMs)) next = timer
    }
    return next
  }

  #fire(timer: Timer): void {
    this.#nowMs = Math.max(this.#nowMs, timer.atMs)
    if (timer.everyMs === undefined) this.#timers.delete(timer.id)
    else timer.atMs = this.#nowMs + timer.everyMs
    timer.fire()
  }

  #add(callback: Callback, ms = 0, args: unknown[] = [], repeats = false): object {
    const id = ++this.#lastId
    const delayMs = Math.max(1, Number(ms) || 0)
    const fire = (): void => callback(...args)
    this.#timers.set(id, { id, atMs: this.#nowMs + delayMs, everyMs: repeats ? delayMs : undefined, fire })
    this.onTimer()
    const handle = {
      ref: () => handle,
      unref: () => handle,
      hasRef: () => true,
      refresh: () => {
        const timer = this.#timers.get(id)
        if (timer) timer.atMs = this.#nowMs + delayMs
        return handle
      },
      close: () => this.#clear(id),
      [Symbol.toPrimitive]: () => id,
    }
    return handle
  }

  #clear(timer: unknown): void {
    if (timer !== undefined && timer !== null) this.#timers.delete(Number(timer))
  }

  #setTimeout(): object {
    const set = (callback: Callback, ms?: number, ...args: unknown[]): object => this.#add(callback, ms, args)
    return Object.assign(set, { [promisify.custom]: this.#sleep })
  }

  #sleep = (ms?: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#clear(timer)
        reject(new DOMException('The operation was aborted', 'AbortError'))
      }
      const timer = this.#add(() => {
        signal?.removeEventListener('abort', stop)
        resolve(value)
      }, ms)
      if (signal?.aborted) stop()
      else signal?.addEventListener('abort', stop, { once: true })
    })

  #ticks(): object {
    const sleep = this.#sleep
    return async function* (ms?: number, value?: unknown, options?: { signal?: AbortSignal }) {
      for (;;) yield await sleep(ms, value, options)
    }
  }

  #date(): DateConstructor {
    const now = (): number => this.#nowMs
    const Fake = function (this: unknown, ...args: unknown[]) {
      if (!new.target) return new real.Date(now()).toString()
      return Reflect.construct(real.Date, args.length ? args : [now()], new.target === Fake ? real.Date : new.target)
    } as unknown as DateConstructor
    Object.setPrototypeOf(Fake, real.Date)
    Object.defineProperty(Fake, 'prototype', { value: real.Date.prototype })
    return Object.assign(Fake, { now })
  }

  #replace(target: object, members: Record<string, unknown>): void {
    for (const [name, value] of Object.entries(members)) {
      const before = Object.getOwnPropertyDescriptor(target, name)
      Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: before?.enumerable ?? true })
      this.#undo.push(() => {
        if (before) Object.defineProperty(target, name, before)
        else delete (target as Record<string, unknown>)[name]
      })
    }
  }
}

/** A clock that is in charge from now on. */
export function fakeClock(now?: Date | number | string): FakeClock {
  return new FakeClock(now).install()
}

/** Lets every promise settle that can without time passing. */
async function breathe(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise<void>((resolve) => real.setImmediate(resolve))
}
