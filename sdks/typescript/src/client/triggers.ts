import * as api from '../api/operations.ts'
import type { StartedRun } from './client.ts'
import type { RunEvent } from '../events.ts'
import { given, type Client } from './http.ts'
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
  /** An expression that makes the input from the request or event. */
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
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  list(query?: PageQuery & { type?: TriggerType }): Promise<Page<TriggerRecord>> {
    return api.listTriggers({ client: this.#client, query: given(query) }) as Promise<Page<TriggerRecord>>
  }

  get(id: string): Promise<TriggerRecord> {
    return api.getTrigger({ client: this.#client, path: { id } }) as Promise<TriggerRecord>
  }

  create(trigger: NewTrigger): Promise<TriggerRecord> {
    return api.createTrigger({ client: this.#client, body: trigger }) as Promise<TriggerRecord>
  }

  update(id: string, changes: TriggerChanges): Promise<TriggerRecord> {
    return api.changeTrigger({ client: this.#client, path: { id }, body: given(changes) }) as Promise<TriggerRecord>
  }

  /** The runs that it started continue. */
  async remove(id: string): Promise<void> {
    await api.removeTrigger({ client: this.#client, path: { id } })
  }

  enable(id: string): Promise<TriggerRecord> {
    return api.enableTrigger({ client: this.#client, path: { id } }) as Promise<TriggerRecord>
  }

  disable(id: string): Promise<TriggerRecord> {
    return api.disableTrigger({ client: this.#client, path: { id } }) as Promise<TriggerRecord>
  }

  /** Starts a run of its flow with this input, whatever the trigger's type is. */
  fire(id: string, input?: unknown, options?: { idempotencyKey?: string; source?: string }): Promise<StartedRun> {
    return api.fireTrigger({ client: this.#client, path: { id }, body: given({ input, ...options }) }) as Promise<StartedRun>
  }

  /** What became of it, the latest first. */
  history(id: string, query?: PageQuery): Promise<Page<RunEvent>> {
    return api.triggerHistory({ client: this.#client, path: { id }, query: given(query) }) as Promise<Page<RunEvent>>
  }

  stats(id: string): Promise<TriggerStats> {
    return api.triggerStats({ client: this.#client, path: { id } }) as Promise<TriggerStats>
  }
}

/** Triggers of the type `schedule`. They are made and changed as triggers. */
export class SchedulesApi {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  list(query?: PageQuery): Promise<Page<TriggerRecord>> {
    return api.listSchedules({ client: this.#client, query: given(query) }) as Promise<Page<TriggerRecord>>
  }

  /**
   * Starts a run for each due time from `from` up to, not including, `to` for which there is none.
   * With `forgotten` also for due times whose earlier run may already be deleted.
   */
  backfill(
    id: string,
    range: { from: Date | string | number; to: Date | string | number; limit?: number; forgotten?: boolean },
  ): Promise<Backfilled> {
    return api.backfillSchedule({ client: this.#client, path: { id }, body: given(range) }) as Promise<Backfilled>
  }
}
