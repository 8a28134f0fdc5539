/**
 * Requests to the server, and its errors as errors.
 */

import { RiverrunError, type ErrorOptions } from '../errors.ts'
import { isObject } from '../json.ts'
import { overFetch, overNode, TookTooLong, type Answer, type Transport } from './transport.ts'

export interface ClientOptions {
  /** Where the server listens: `http://127.0.0.1:4600` where absent. */
  url?: string | URL
  /** Sent as a bearer token. */
  token?: string
  /** More headers for every request. */
  headers?: Record<string, string>
  /** In place of the global one, which is used where there is no `node:http`, and for live streams. */
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
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
  timeoutMs?: number | undefined
}

interface StreamOptions extends Omit<RequestOptions, 'timeoutMs'> {
  body?: unknown
}

export class Http {
  readonly #base: string
  readonly #headers: Record<string, string>
  readonly #fetch: typeof fetch
  readonly #transport: Transport
  readonly #timeoutMs: number

  constructor({ url = 'http://127.0.0.1:4600', token, headers, timeoutMs = 30_000, ...rest }: ClientOptions) {
    this.#base = String(url).replace(/\/+$/, '')
    this.#headers = { ...(token && { authorization: `Bearer ${token}` }), ...headers }
    this.#fetch = rest.fetch ?? globalThis.fetch.bind(globalThis)
    this.#transport = (rest.fetch ? undefined : overNode(this.#base)) ?? overFetch(this.#base, this.#fetch)
    this.#timeoutMs = timeoutMs
  }

  get<T>(path: string, options?: RequestOptions): Promise<T> {
    return this.#json('GET', path, undefined, options)
  }

  post<T>(path: string, body?: unknown, options?: RequestOptions): Promise<T> {
    return this.postText(path, JSON.stringify(body ?? {}), options)
  }

  /** A body that is JSON already. */
  postText<T>(path: string, json: string, options?: RequestOptions): Promise<T> {
    return this.#json('POST', path, json, options)
  }

  patch<T>(path: string, body: unknown): Promise<T> {
    return this.#json('PATCH', path, JSON.stringify(body))
  }

  delete(path: string): Promise<void> {
    return this.#json('DELETE', path)
  }

  /** An answer whose body is read as it comes: no time limit. */
  async open(method: string, path: string, { query, body, headers, signal }: StreamOptions = {}): Promise<Response> {
    const init: RequestInit = {
      method,
      headers: this.#headersFor(body !== undefined, headers),
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    }
    let response: Response
    try {
      response = await this.#fetch(`${this.#base}${path}${queryText(query)}`, init)
    } catch (cause) {
      if (signal?.aborted) throw signal.reason
      throw this.#unreachable(cause)
    }
    const { status, statusText } = response
    if (!response.ok) throw failure({ status, statusText, text: await response.text().catch(() => '') })
    return response
  }

  async #json<T>(method: string, path: string, body?: string, { query, headers, signal, timeoutMs = this.#timeoutMs }: RequestOptions = {}): Promise<T> {
    let answer: Answer
    try {
      answer = await this.#transport({
        method,
        path: path + queryText(query),
        headers: this.#headersFor(body !== undefined, headers),
        body,
        signal,
        timeoutMs,
      })
    } catch (cause) {
      if (signal?.aborted) throw cause
      if (cause instanceof TookTooLong) throw new RiverrunError('REQUEST_TIMEOUT', `${method} ${path} took longer than ${timeoutMs} ms`, { cause })
      throw this.#unreachable(cause)
    }
    if (answer.status < 200 || answer.status > 299) throw failure(answer)
    return (answer.text ? JSON.parse(answer.text) : undefined) as T
  }

  #headersFor(hasBody: boolean, more: Record<string, string> | undefined): Record<string, string> {
    return { ...this.#headers, ...(hasBody && { 'content-type': 'application/json' }), ...more }
  }

  #unreachable(cause: unknown): RiverrunError {
    return new RiverrunError('UNREACHABLE', `${this.#base} cannot be reached: ${reason(cause)}`, { cause })
  }
}

function failure({ status, statusText, text }: Answer): HttpError {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    body = undefined
  }
  const error = isObject(body) && isObject(body.error) ? body.error : {}
  const code = typeof error.code === 'string' ? error.code : `HTTP_${status}`
  const message = typeof error.message === 'string' ? error.message : text.slice(0, 300) || statusText
  return new HttpError(status, code, message, { details: error.details })
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
