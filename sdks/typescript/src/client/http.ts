/**
 * Requests to the server, and its errors as errors.
 */

import { RiverrunError, type ErrorOptions } from '../errors.ts'
import { isObject } from '../json.ts'

export interface ClientOptions {
  /** Where the server listens: `http://127.0.0.1:4600` where absent. */
  url?: string | URL
  /** Sent as a bearer token. */
  token?: string
  /** More headers for every request. */
  headers?: Record<string, string>
  /** In place of the global one. */
  fetch?: typeof fetch
  /** A request that takes longer is given up; 30,000 where absent. Live streams have no end. */
  timeoutMs?: number
}

/** An error that the server answered with. */
export class HttpError extends RiverrunError {
  override name = 'HttpError'
  readonly status: number

  constructor(status: number, code: string, message: string, options?: ErrorOptions) {
    super(code, message, options)
    this.status = status
  }
}

export interface RequestOptions {
  query?: Record<string, unknown>
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
}

export class Http {
  readonly #base: string
  readonly #headers: Record<string, string>
  readonly #fetch: typeof fetch
  readonly #timeoutMs: number

  constructor({ url = 'http://127.0.0.1:4600', token, headers, timeoutMs = 30_000, ...rest }: ClientOptions) {
    this.#base = String(url).replace(/\/+$/, '')
    this.#headers = { ...(token && { authorization: `Bearer ${token}` }), ...headers }
    this.#fetch = rest.fetch ?? globalThis.fetch.bind(globalThis)
    this.#timeoutMs = timeoutMs
  }

  get<T>(path: string, options?: RequestOptions): Promise<T> {
    return this.#json('GET', path, options)
  }

  post<T>(path: string, body?: unknown, options?: RequestOptions): Promise<T> {
    return this.#json('POST', path, { ...options, body: body ?? {} })
  }

  patch<T>(path: string, body: unknown): Promise<T> {
    return this.#json('PATCH', path, { body })
  }

  delete(path: string): Promise<void> {
    return this.#json('DELETE', path)
  }

  /** An answer whose body is read as it comes: no time limit. */
  async open(method: string, path: string, { query, body, headers, signal }: RequestOptions = {}): Promise<Response> {
    const init: RequestInit = {
      method,
      headers: { ...this.#headers, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    }
    let response: Response
    try {
      response = await this.#fetch(`${this.#base}${path}${queryText(query)}`, init)
    } catch (cause) {
      if (signal?.aborted) throw signal.reason
      throw new RiverrunError('UNREACHABLE', `${this.#base} cannot be reached: ${reason(cause)}`, { cause })
    }
    if (!response.ok) throw await failure(response)
    return response
  }

  async #json<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const limitMs = options.timeoutMs ?? this.#timeoutMs
    const limit = AbortSignal.timeout(limitMs)
    const signal = options.signal ? AbortSignal.any([options.signal, limit]) : limit
    try {
      const response = await this.open(method, path, { ...options, signal })
      const text = await response.text()
      return (text ? JSON.parse(text) : undefined) as T
    } catch (error) {
      if (!limit.aborted || options.signal?.aborted) throw error
      throw new RiverrunError('REQUEST_TIMEOUT', `${method} ${path} took longer than ${limitMs} ms`, { cause: error })
    }
  }
}

async function failure(response: Response): Promise<HttpError> {
  const text = await response.text().catch(() => '')
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    body = undefined
  }
  const error = isObject(body) && isObject(body.error) ? body.error : {}
  const code = typeof error.code === 'string' ? error.code : `HTTP_${response.status}`
  const message = typeof error.message === 'string' ? error.message : text.slice(0, 300) || response.statusText
  return new HttpError(response.status, code, message, { details: error.details })
}

function reason(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  return inner instanceof Error ? inner.message || String((inner as { code?: string }).code) : String(inner)
}

function queryText(query: Record<string, unknown> | undefined): string {
  const params = new URLSearchParams()
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value === undefined) continue
    params.set(key, Array.isArray(value) ? value.join(',') : value instanceof Date ? value.toISOString() : String(value))
  }
  return params.size ? `?${params}` : ''
}
