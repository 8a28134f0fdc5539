/**
 * Follows a stream over any number of connections: each begins after the last event that was
 * seen, so the reader gets every event once and in order.
 */

import { RiverrunError } from '../errors.ts'
import { finalTypes, isFinal, type RunEvent } from '../events.ts'
import { given, HttpError, type Client, type SendOptions } from './http.ts'
import { readEvents } from './sse.ts'

export interface SubscribeOptions {
  /** Begin after this event. `end`: only what happens from now on. Everything where absent. */
  from?: string
  /** Only these types; `log` takes every `log.*`. */
  types?: string[]
  /** `until-end` is over when the run or the job is. `forever` where absent. */
  follow?: 'until-end' | 'forever'
  signal?: AbortSignal
  /** A connection on which nothing comes for this long is given up; 60,000 where absent. */
  idleMs?: number
  /** Called before each new connection but the first, with what ended the last one. */
  onReconnect?: (reason: unknown) => void
  /**
   * Called when events of a queue are lost to this reader: it was too slow, or was away since the
   * event `after`. The jobs themselves are on the server. Other streams lose nothing.
   */
  onMissed?: (missed: Missed) => void
}

export interface Missed {
  /** At least so many. */
  missed?: number
  after?: string
}

/** What somebody who follows kinds of events may say. */
export interface OnKindOptions extends Pick<SubscribeOptions, 'signal' | 'idleMs' | 'onReconnect'> {
  /** Begin after this `cursor`. `start`: everything that is kept. What happens from now on where absent. */
  from?: string
}

/** An event among those of other streams. */
export interface LoggedEvent<Data = any> extends RunEvent<Data> {
  /** The full name of the stream that it is from. */
  stream: string
  /** Its place among all events: pass it as `from` to continue after it. */
  cursor: string
}

const longestWaitMs = 30_000

/** What of a request for a stream changes from one connection to the next. */
interface Connecting extends SendOptions {
  query: { from?: string; type?: string; follow?: 'until-end' | 'forever' }
}

/** Sends the request for a stream. */
export type Open = (to: Connecting) => Promise<Response>

export function onKind(client: Client, kinds: string | string[], options: OnKindOptions = {}): AsyncGenerator<LoggedEvent, void> {
  const open: Open = ({ query, ...to }) => client.sse.get({ ...to, url: '/api/events', query: { type: kinds, ...query } })
  return subscribe(open, options) as AsyncGenerator<LoggedEvent, void>
}

export async function* subscribe(open: Open, options: SubscribeOptions = {}): AsyncGenerator<RunEvent, void> {
  const { from, follow, signal } = options
  const types = options.types && [...options.types, ...(follow === 'until-end' ? finalTypes : [])]
  let lastId: string | undefined
  let retryMs = 1000
  let failures = 0
  for (;;) {
    let isOver = false
    let hasEnded = false
    let reason: unknown
    try {
      const connection = connect(open, {
        ...options,
        query: given({ from: lastId === undefined ? from : undefined, ...(types && { type: types }), follow }),
        lastId,
        onRetry: (ms) => (retryMs = ms),
        onId: (id) => (lastId = id),
      })
      for await (const event of connection) {
        failures = 0
        hasEnded = follow === 'until-end' && isFinal(event)
        if (isWanted(event.type, options.types)) yield event
        // A job that has ended may have begun anew: it is over when the server says no more.
        if (hasEnded && !event.type.startsWith('job.')) return
      }
      isOver = follow === 'until-end' && (hasEnded || connection.wasEmpty)
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (!isPassing(error)) throw error
      reason = error
    }
    if (isOver) return
    await wait(Math.min(retryMs * 2 ** Math.min(failures, 10), longestWaitMs) * (0.5 + Math.random() / 2), signal)
    failures += 1
    options.onReconnect?.(reason)
  }
}

interface ConnectOptions extends SubscribeOptions {
  query: Connecting['query']
  lastId: string | undefined
  onRetry: (ms: number) => void
  onId: (id: string) => void
}

interface Connection extends AsyncIterable<RunEvent> {
  /** Not one byte came: the run had ended, and everything was seen. */
  wasEmpty: boolean
}

function connect(open: Open, { query, lastId, onRetry, onId, signal, onMissed, idleMs = 60_000 }: ConnectOptions): Connection {
  return {
    wasEmpty: true,
    async *[Symbol.asyncIterator]() {
      const idle = new Idle(idleMs, signal)
      try {
        const response = await open({ query, headers: { ...(lastId && { 'last-event-id': lastId }) }, signal: idle.signal })
        const onBytes = (): void => {
          this.wasEmpty = false
          idle.restart()
        }
        for await (const { id, event, data } of readEvents(response.body as ReadableStream<Uint8Array>, { onRetry, onId, onBytes })) {
          const parsed = JSON.parse(data)
          if (id) onId(id)
          if (event === 'stream.deleted') throw new RiverrunError('STREAM_NOT_FOUND', 'the stream was deleted')
          if (event === 'stream.missed') {
            onMissed?.(parsed as Missed)
            continue
          }
          if (event === 'stream.failed') throw streamError(parsed)
          yield parsed as RunEvent
        }
      } finally {
        idle.stop()
      }
    },
  }
}

/** Ends a connection on which nothing comes. */
class Idle {
  readonly #abort = new AbortController()
  readonly #ms: number
  readonly signal: AbortSignal
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(ms: number, outer: AbortSignal | undefined) {
    this.#ms = ms
    this.signal = outer ? AbortSignal.any([outer, this.#abort.signal]) : this.#abort.signal
    this.restart()
  }

  restart(): void {
    clearTimeout(this.#timer)
    const silent = new RiverrunError('UNREACHABLE', `the server was silent for ${this.#ms} ms`)
    this.#timer = setTimeout(() => this.#abort.abort(silent), this.#ms)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#abort.abort()
  }
}

function streamError(body: { error?: { code?: string; message?: string; details?: unknown } }): RiverrunError {
  const { code = 'INTERNAL', message = 'the stream failed', details } = body.error ?? {}
  return new HttpError(500, code, message, { details })
}

function isWanted(type: string, types: string[] | undefined): boolean {
  return !types || types.some((wanted) => type === wanted || type.startsWith(`${wanted}.`))
}

/** Whether it is worth trying again: the network, a server that restarts or is busy. */
function isPassing(error: unknown): boolean {
  if (error instanceof HttpError) return error.status >= 500 || error.status === 408 || error.status === 429
  return !(error instanceof RiverrunError) || error.code === 'UNREACHABLE'
}

function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}
