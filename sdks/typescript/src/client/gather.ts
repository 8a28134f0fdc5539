/**
 * Jobs that are added one by one, faster than the server answers, go to it together.
 *
 * What is asked for while requests for a queue are under way waits for one of them and is then sent
 * as one request, as are calls that are made together; a lone call goes at once. The server takes
 * such a request whole or not at all, so where it refuses one because of a job in it, the halves are
 * sent, and so on: each call is settled by what became of its own job.
 */

import type { Enqueued } from '../context.ts'
import { RiverrunError } from '../errors.ts'
import { HttpError } from './http.ts'

/** Requests for one queue that are under way at a time. */
const mostRequests = 2
/** Jobs, and characters of them, in a request. */
const mostJobs = 500
const mostLength = 1 << 20

/** Statuses by which the server refuses a request for what is in it. */
const refusals = [400, 409, 413, 422]

interface Job {
  json: string
  resolve: (added: Enqueued) => void
  reject: (error: unknown) => void
}

export type SendJobs = (queue: string, create: boolean, json: string) => Promise<{ jobs: Enqueued[] }>

export class Gather {
  readonly #send: SendJobs
  readonly #lines = new Map<string, Line>()

  constructor(send: SendJobs) {
    this.#send = send
  }

  /** The job's text is made by the caller: what it changes afterwards is not in it. */
  add(queue: string, create: boolean, json: string): Promise<Enqueued> {
    const name = `${create} ${queue}`
    let line = this.#lines.get(name)
    if (!line) {
      line = new Line((json) => this.#send(queue, create, json), () => this.#lines.delete(name))
      this.#lines.set(name, line)
    }
    return line.add(json)
  }
}

/** The jobs for one queue. */
class Line {
  readonly #send: (json: string) => Promise<{ jobs: Enqueued[] }>
  readonly #onEmpty: () => void
  #waiting: Job[] = []
  #requests = 0
  #isDue = false

  constructor(send: (json: string) => Promise<{ jobs: Enqueued[] }>, onEmpty: () => void) {
    this.#send = send
    this.#onEmpty = onEmpty
  }

  add(json: string): Promise<Enqueued> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ json, resolve, reject })
      this.#goSoon()
    })
  }

  /** After those that are added now. */
  #goSoon(): void {
    if (this.#isDue || this.#requests >= mostRequests) return
    this.#isDue = true
    queueMicrotask(() => {
      this.#isDue = false
      while (this.#waiting.length && this.#requests < mostRequests) void this.#go(this.#next())
    })
  }

  async #go(jobs: Job[]): Promise<void> {
    this.#requests += 1
    await this.#settle(jobs)
    this.#requests -= 1
    if (this.#waiting.length) this.#goSoon()
    else if (!this.#requests) this.#onEmpty()
  }

  #next(): Job[] {
    let count = 0
    for (let length = 0; count < Math.min(mostJobs, this.#waiting.length); count++) {
      length += (this.#waiting[count] as Job).json.length
      if (count && length > mostLength) break
    }
    return this.#waiting.splice(0, count)
  }

  async #settle(jobs: Job[]): Promise<void> {
    const [first] = jobs as [Job]
    const json = jobs.length === 1 ? first.json : `{"jobs":[${jobs.map((job) => job.json).join(',')}]}`
    try {
      const { jobs: added } = await this.#send(json)
      if (added?.length !== jobs.length) throw new RiverrunError('INTERNAL', `the server answered ${jobs.length} jobs with ${added?.length}`)
      jobs.forEach((job, index) => job.resolve(added[index] as Enqueued))
    } catch (error) {
      if (jobs.length === 1 || !isRefused(error)) return jobs.forEach((job) => job.reject(error))
      const half = Math.ceil(jobs.length / 2)
      await this.#settle(jobs.slice(0, half))
      await this.#settle(jobs.slice(half))
    }
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof HttpError && refusals.includes(error.status)
}
