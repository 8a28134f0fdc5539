/**
 * A riverrun server, as a program sees it. Works in Node and in browsers.
 */

import type { Enqueued, EnqueueOptions, NewJob, StartOptions } from '../context.ts'
import { CancelledError, RiverrunError } from '../errors.ts'
import { finalTypes, type RunEvent, type RunStatus } from '../events.ts'
import { revive } from '../failure.ts'
import { followRun, type RunView } from '../live/run.ts'
import { Http, type ClientOptions } from './http.ts'
import type { Frame, JobRecord, JobState, Page, PageQuery, QueueRecord, Run, RunRecord, Why } from './records.ts'
import { readEvents } from './sse.ts'
import { onKind, subscribe, type LoggedEvent, type OnKindOptions, type SubscribeOptions } from './subscribe.ts'

export interface AddOptions {
  /** Makes the queue although no process takes its jobs yet. */
  create?: boolean
}

export interface CleanOptions {
  /** Only those that ended at least this long ago. */
  olderThanMs?: number
  limit?: number
}

export interface CallOptions {
  timeoutMs?: number
  signal?: AbortSignal
}

export interface StartedRun {
  runId: string
  status: RunStatus
  created: boolean
}

export interface NewEvent {
  type: string
  data?: unknown
  /** The run whose stream it goes to. */
  runId?: string
  /** A full name, such as `nq:webhook:github`; `nq:global` where neither is given. */
  stream?: string
  correlationId?: string
  causationId?: string
}

export class Riverrun {
  readonly #http: Http

  constructor(options: ClientOptions = {}) {
    this.#http = new Http(options)
  }

  /** When this is answered the job is on disk. */
  async enqueue<Data = unknown>(
    queue: string,
    data: Data,
    options?: EnqueueOptions & AddOptions & { name?: string },
  ): Promise<Enqueued> {
    const { name, create, ...rest } = options ?? {}
    const body = { name, data: data ?? null, ...(Object.keys(rest).length && { options: rest }) }
    return only(await this.#add(queue, body, { create }))
  }

  /** All of them or none. */
  async enqueueMany<Data = unknown>(queue: string, jobs: Omit<NewJob<Data>, 'queue'>[], options?: AddOptions): Promise<Enqueued[]> {
    return jobs.length ? this.#add(queue, { jobs }, options) : []
  }

  job<Data = unknown, Result = unknown>(jobId: string): Promise<JobRecord<Data, Result>> {
    return this.#http.get(`/api/jobs/${part(jobId)}`)
  }

  jobs(queue: string, query?: PageQuery & { state?: JobState | JobState[] }): Promise<Page<JobRecord>> {
    return this.#http.get(`/api/queue/${part(queue)}/jobs`, { query: { ...query } })
  }

  retryJob(jobId: string): Promise<unknown> {
    return this.#http.post(`/api/jobs/${part(jobId)}/retry`)
  }

  cancelJob(jobId: string, reason?: string): Promise<unknown> {
    return this.#http.post(`/api/jobs/${part(jobId)}/cancel`, { reason })
  }

  /** Lets a delayed job begin now. */
  promoteJob(jobId: string): Promise<unknown> {
    return this.#http.post(`/api/jobs/${part(jobId)}/promote`)
  }

  /** Changes a job that has not begun. */
  updateJob(jobId: string, changes: { priority?: number; delayMs?: number }): Promise<JobRecord> {
    return this.#http.patch(`/api/jobs/${part(jobId)}`, changes)
  }

  /** Removes a job that does not run. */
  removeJob(jobId: string): Promise<void> {
    return this.#http.delete(`/api/jobs/${part(jobId)}`)
  }

  /** Waits until a job has ended, however it ends, over reconnects and restarts of the server. */
  async waitJob<Data = unknown, Result = unknown>(jobId: string, options: CallOptions = {}): Promise<JobRecord<Data, Result>> {
    await ended(`job ${jobId}`, options, (signal) =>
      this.followJob(jobId, { follow: 'until-end', from: 'end', types: [...finalTypes], signal }),
    )
    return this.job(jobId)
  }

  /** What becomes of a job and what its handler says, as it happens. */
  followJob(jobId: string, options?: SubscribeOptions): AsyncGenerator<RunEvent, void> {
    return subscribe(this.#http, `/api/events/job/${part(jobId)}/stream`, options)
  }

  /** What happens to the jobs of a queue from now on. Nothing of it is stored: see `onMissed`. */
  followQueue(queue: string, options?: Omit<SubscribeOptions, 'from' | 'follow'>): AsyncGenerator<RunEvent, void> {
    return subscribe(this.#http, `/api/events/queue/${part(queue)}/stream`, options)
  }

  async queues(): Promise<QueueRecord[]> {
    return (await this.#http.get<Page<QueueRecord>>('/api/queue')).items
  }

  queue(name: string): Promise<QueueRecord> {
    return this.#http.get(`/api/queue/${part(name)}`)
  }

  pauseQueue(name: string): Promise<unknown> {
    return this.#http.post(`/api/queue/${part(name)}/pause`)
  }

  resumeQueue(name: string): Promise<unknown> {
    return this.#http.post(`/api/queue/${part(name)}/resume`)
  }

  /** Removes what waits; with `delayed` also what waits for its time. */
  drainQueue(name: string, options?: { delayed?: boolean }): Promise<{ removed: number }> {
    return this.#http.post(`/api/queue/${part(name)}/drain`, options)
  }

  /** Removes jobs that have ended. */
  cleanQueue(name: string, options?: CleanOptions & { state?: 'completed' | 'failed' | 'cancelled' }): Promise<{ removed: number }> {
    return this.#http.post(`/api/queue/${part(name)}/clean`, options)
  }

  /** Jobs that have failed for good, newest first. */
  deadLetters(queue: string, query?: PageQuery): Promise<Page<JobRecord>> {
    return this.#http.get(`/api/queue/${part(queue)}/dlq`, { query: { ...query } })
  }

  /** Lets dead letters wait again, from their first attempt on. */
  redrive(queue: string, options?: { limit?: number; perSecond?: number }): Promise<{ redriven: number }> {
    return this.#http.post(`/api/queue/${part(queue)}/dlq/redrive`, options)
  }

  purgeDeadLetters(queue: string, options?: CleanOptions): Promise<{ removed: number }> {
    return this.#http.post(`/api/queue/${part(queue)}/dlq/purge`, options)
  }

  /** Runs a process at once and gives back its value. Its error is thrown, with its code. */
  async call<Value = any>(process: string, input?: unknown, { timeoutMs, signal }: CallOptions = {}): Promise<Value> {
    const body = { process, input: input ?? null, timeoutMs }
    // The server keeps the time; the client waits a little longer for it to say so.
    const patienceMs = timeoutMs === undefined ? undefined : timeoutMs + 10_000
    return (await this.#http.post<{ value: Value }>('/api/runner/execute', body, { signal, timeoutMs: patienceMs })).value
  }

  /** The same, with everything that the process says on its way. Leaving the loop early cancels the call. */
  async *frames(process: string, input?: unknown, { timeoutMs, signal }: CallOptions = {}): AsyncGenerator<Frame, void> {
    const abort = new AbortController()
    try {
      const response = await this.#http.open('POST', '/api/runner/execute', {
        body: { process, input: input ?? null, timeoutMs },
        headers: { accept: 'text/event-stream' },
        signal: signal ? AbortSignal.any([signal, abort.signal]) : abort.signal,
      })
      for await (const { event, data } of readEvents(response.body as ReadableStream<Uint8Array>)) {
        yield { type: event, data: JSON.parse(data) } as Frame
        if (event === 'result' || event === 'error' || event === 'cancelled') return
      }
      throw new RiverrunError('UNREACHABLE', 'the connection ended before the call did')
    } finally {
      abort.abort()
    }
  }

  /** Calls a process, hands each frame to `onFrame`, and gives back the value. */
  async callWith<Value = any>(process: string, input: unknown, onFrame: (frame: Frame) => void, options?: CallOptions): Promise<Value> {
    for await (const frame of this.frames(process, input, options)) {
      onFrame(frame)
      if (frame.type === 'result') return frame.data.value as Value
      if (frame.type === 'error') throw revive(frame.data)
      if (frame.type === 'cancelled') throw new CancelledError(frame.data.reason ?? 'user')
    }
    throw new RiverrunError('INTERNAL', 'the call ended without an outcome')
  }

  /** Starts a run of a flow. When this is answered the run is on disk. */
  start(flow: string, input?: unknown, options?: StartOptions): Promise<StartedRun> {
    return this.#http.post(`/api/flows/${part(flow)}/start`, { input, ...options })
  }

  run<State = Record<string, unknown>, Result = unknown>(runId: string): Promise<Run<State, Result>> {
    return this.#http.get(`/api/runs/${part(runId)}`)
  }

  runs(query?: PageQuery & { flow?: string; status?: RunStatus | RunStatus[] }): Promise<Page<RunRecord>> {
    return this.#http.get('/api/runs', { query: { ...query } })
  }

  cancel(runId: string, reason?: string): Promise<unknown> {
    return this.#http.post(`/api/runs/${part(runId)}/cancel`, { reason })
  }

  /** Why a run does not move, or what it does: each active visit and what it waits for. */
  why(runId: string): Promise<Why> {
    return this.#http.get(`/api/runs/${part(runId)}/why`)
  }

  /** Opens a trigger: whoever waits for it goes on with `payload`. */
  fire(triggerId: string, payload?: unknown): Promise<unknown> {
    return this.#http.post(`/api/triggers/${part(triggerId)}`, payload)
  }

  /** Waits until a run has ended, however it ends, over reconnects and restarts of the server. */
  async wait<State = Record<string, unknown>, Result = unknown>(
    runId: string,
    options: CallOptions = {},
  ): Promise<Run<State, Result>> {
    await ended(`run ${runId}`, options, (signal) => this.follow(runId, { follow: 'until-end', types: [...finalTypes], signal }))
    return this.run(runId)
  }

  /** Emits an event into a run, a stream, or the global one. */
  emit(event: NewEvent): Promise<{ stream: string; ids: string[] }> {
    return this.#http.post('/api/events', event)
  }

  /** The events of a stream with a full name, such as `nq:flow:<runId>` or `nq:global`, as they happen. */
  subscribe(stream: string, options?: SubscribeOptions): AsyncGenerator<RunEvent, void> {
    return subscribe(this.#http, `/api/events/${part(stream)}/tail`, options)
  }

  /**
   * All events of some kinds, of every run and stream, as they happen: `order.paid`, or `order` for
   * every `order.*`. The `cursor` of the last one that was seen leads to those after it.
   */
  onKind(kinds: string | string[], options?: OnKindOptions): AsyncGenerator<LoggedEvent, void> {
    return onKind(this.#http, kinds, options)
  }

  /** The events of a run as they happen. */
  follow(runId: string, options?: SubscribeOptions): AsyncGenerator<RunEvent, void> {
    return subscribe(this.#http, `/api/runs/${part(runId)}/stream`, options)
  }

  /** A run as it stands after each of its events, until it ends. */
  watch(runId: string, options?: Pick<SubscribeOptions, 'signal' | 'onReconnect'>): AsyncGenerator<RunView, RunView> {
    return followRun(this.follow(runId, { ...options, follow: 'until-end' }))
  }

  async #add(queue: string, body: object, query?: AddOptions): Promise<Enqueued[]> {
    return (await this.#http.post<{ jobs: Enqueued[] }>(`/api/queue/${part(queue)}/jobs`, body, { query: { ...query } })).jobs
  }
}

/** Reads a stream to its end, for so long. */
async function ended(
  what: string,
  { timeoutMs, signal }: CallOptions,
  open: (signal: AbortSignal) => AsyncGenerator<RunEvent, void>,
): Promise<void> {
  const limit = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)
  const signals = [signal, limit].filter((one) => one !== undefined)
  try {
    for await (const _ of open(AbortSignal.any(signals)));
  } catch (error) {
    if (!limit?.aborted || signal?.aborted) throw error
    throw new RiverrunError('TIMEOUT', `${what} had not ended after ${timeoutMs} ms`)
  }
}

function part(text: string): string {
  return encodeURIComponent(text)
}

function only([job]: Enqueued[]): Enqueued {
  if (!job) throw new RiverrunError('INTERNAL', 'the server answered without a job')
  return job
}
