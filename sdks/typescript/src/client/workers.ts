import type { Http } from './http.ts'
import type { Page, WorkerRecord } from './records.ts'

/** The programs that run work for the server from elsewhere. */
export class WorkersApi {
  readonly #http: Http

  constructor(http: Http) {
    this.#http = http
  }

  async list(): Promise<WorkerRecord[]> {
    return (await this.#http.get<Page<WorkerRecord>>('/api/workers')).items
  }

  /** Gives it no more work, and lets it go when what it runs has ended or `graceMs` are over. */
  drain(id: number, options?: { graceMs?: number }): Promise<unknown> {
    return this.#http.post(`/api/workers/${id}/drain`, options)
  }
}
