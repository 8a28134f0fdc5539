/** How a context sends requests: to the server, or to the test kit in its place. */
export interface Link {
  /** Settles when the server has answered; rejects with a `RiverrunError` if it refused. */
  request(method: string, params: Record<string, unknown>): Promise<any>
  notify(method: string, params: Record<string, unknown>): void
}

/** A link on which everything is said of one job of a batch. */
export function linkOfJob(link: Link, jobId: string): Link {
  return {
    request: (method, params) => link.request(method, { jobId, ...params }),
    notify: (method, params) => link.notify(method, { jobId, ...params }),
  }
}
