import * as api from '../api/operations.ts'
import { given, type Client } from './http.ts'
import type { WorkerRecord } from './records.ts'

/** The programs that run work for the server from elsewhere. */
export class WorkersApi {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  async list(): Promise<WorkerRecord[]> {
    return (await api.listWorkers({ client: this.#client })).items as WorkerRecord[]
  }

  /** Gives it no more work, and lets it go when what it runs has ended or `graceMs` are over. */
  drain(id: number, options?: { graceMs?: number }): Promise<unknown> {
    return api.drainWorker({ client: this.#client, path: { id }, body: given(options) })
  }
}
