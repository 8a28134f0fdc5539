import type { StartedRun } from './client.ts'
import type { RunEvent } from '../events.ts'
import type { Http } from './http.ts'
import { part } from './path.ts'
import type { Backfilled, Page, PageQuery, TriggerRecord, TriggerStats } from './records.ts'

export type TriggerType = 'http' | 'schedule' | 'event' | 'manual'

/** What a trigger is made of; docs/guides/triggers.md describes the `config` of each type. */
export interface NewTrigger {
  id: string
  type: TriggerType
  /** The flow that it starts, or `id@version`. */
  flow: string
  flowVersion?: string
  /** On where absent. */
  enabled?: boolean
  description?: string
  config?: Record<string, unknown>
  /** The input of its runs where nothing else gives one. */
  input?: unknown
  /** An expression that makes the input of what came. */
  inputMap?: string
  /** Where in the input it lands. */
  contextKey?: string
  /** An expression that gives the run's idempotency key. */
  idempotencyKey?: string
  tenantId?: string
  tags?: string[]
  metadata?: Record<string, unknown>
}

/** Members that are given replace those that are there, those of `config` one by one; null takes away. */
export type TriggerChanges = { [Member in keyof Omit<NewTrigger, 'id'>]?: NewTrigger[Member] | null } & {
  /** Refused with `TRIGGER_MOVED` unless the trigger is in this version. */
  version?: number
}

/** What starts flows from outside. A trigger that a step waits for is opened with `client.fire`. */
export class TriggersApi {
  readonly #http: Http

  constructor(http: Http) {
    this.#http = http
  }

  list(query?: PageQuery & { type?: TriggerType }): Promise<Page<TriggerRecord>> {
    return this.#http.get('/api/triggers', { query: { ...query } })
  }

  get(id: string): Promise<TriggerRecord> {
    return this.#http.get(path(id))
  }

  create(trigger: NewTrigger): Promise<TriggerRecord> {
    return this.#http.post('/api/triggers', trigger)
  }

  update(id: string, changes: TriggerChanges): Promise<TriggerRecord> {
    return this.#http.patch(path(id), changes)
  }

  /** The runs that it started go on. */
  async remove(id: string): Promise<void> {
    await this.#http.delete(path(id))
  }

  enable(id: string): Promise<TriggerRecord> {
    return this.#http.post(path(id, 'enable'))
  }

  disable(id: string): Promise<TriggerRecord> {
    return this.#http.post(path(id, 'disable'))
  }

  /** Starts a run of its flow with this input, whatever the trigger's type is. */
  fire(id: string, input?: unknown, options?: { idempotencyKey?: string; source?: string }): Promise<StartedRun> {
    return this.#http.post(path(id, 'fire'), { input, ...options })
  }

  /** What became of it, the latest first. */
  history(id: string, query?: PageQuery): Promise<Page<RunEvent>> {
    return this.#http.get(path(id, 'history'), { query: { ...query } })
  }

  stats(id: string): Promise<TriggerStats> {
    return this.#http.get(path(id, 'stats'))
  }
}

/** Triggers of the type `schedule`. They are made and changed as triggers. */
export class SchedulesApi {
  readonly #http: Http

  constructor(http: Http) {
    this.#http = http
  }

  list(query?: PageQuery): Promise<Page<TriggerRecord>> {
    return this.#http.get('/api/schedules', { query: { ...query } })
  }

  /**
   * Starts a run for each due time from `from` up to, not including, `to` for which there is none.
   * With `forgotten` also for those of so long ago that a run which there was may be deleted.
   */
  backfill(
    id: string,
    range: { from: Date | string | number; to: Date | string | number; limit?: number; forgotten?: boolean },
  ): Promise<Backfilled> {
    return this.#http.post(`/api/schedules/${part(id)}/backfill`, range)
  }
}

function path(id: string, action?: string): string {
  return `/api/triggers/${part(id)}${action ? `/${action}` : ''}`
}
