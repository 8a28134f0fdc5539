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

/** The parts of a request that an operation describes. */
export interface TDataShape {
  body?: unknown
  headers?: unknown
  path?: unknown
  query?: unknown
  url: string
}

/** How a request is sent, beside what its operation describes. */
export interface SendOptions {
  headers?: object
  signal?: AbortSignal | undefined
  /** In place of the client's. */
  timeoutMs?: number | undefined
}

/** What a generated function takes. The parameters after the first are the generator's. */
export type Options<Data extends TDataShape = TDataShape, _Throws extends boolean = boolean, _Response = unknown> = Omit<Data, 'url'> & SendOptions

type Request = TDataShape & SendOptions

/** What an operation answers with where it succeeds. */
type Success<Responses> = Responses[keyof Responses]

/** Where the generated functions send their requests. A failure rejects with `HttpError` or `RiverrunError`. */
export interface Client {
  get: Send
  post: Send
  put: Send
  patch: Send
  delete: Send
  /** Answers that are read as they come: no time limit. */
  sse: { get: Open; post: Open }
}

type Send = <Responses = unknown, _Errors = unknown, _Throws extends boolean = false>(request: Request) => Promise<Success<Responses>>
type Open = <_Responses = unknown, _Errors = unknown, _Throws extends boolean = false>(request: Request) => Promise<Response>

/** A client for the functions of `riverrun/api`. */
export function createClient(options: ClientOptions = {}): Client {
  return new Http(options)
}

/** Options as an operation describes them. Dates become text when they are sent, and so do lists in a query. */
export function given<Wire>(options: { [Name in keyof NonNullable<NoInfer<Wire>>]?: unknown } | undefined): Wire {
  return { ...options } as Wire
}

/** A body that is JSON already. */
export class JsonText {
  constructor(readonly text: string) {}
}

export class Http implements Client {
  readonly #base: string
  readonly #headers: Record<string, string>
  readonly #fetch: typeof fetch
  readonly #transport: Transport
  readonly #timeoutMs: number
  readonly get = this.#sender('GET')
  readonly post = this.#sender('POST')
  readonly put = this.#sender('PUT')
  readonly patch = this.#sender('PATCH')
  readonly delete = this.#sender('DELETE')
  readonly sse = { get: this.#opener('GET'), post: this.#opener('POST') }

  constructor({ url = 'http://127.0.0.1:4600', token, headers, timeoutMs = 30_000, ...rest }: ClientOptions) {
    this.#base = String(url).replace(/\/+$/, '')
    this.#headers = { ...(token && { authorization: `Bearer ${token}` }), ...headers }
    this.#fetch = rest.fetch ?? globalThis.fetch.bind(globalThis)
    this.#transport = (rest.fetch ? undefined : overNode(this.#base)) ?? overFetch(this.#base, this.#fetch)
    this.#timeoutMs = timeoutMs
  }

  #sender(method: string): Send {
    return <Responses>(request: Request) => this.#send(method, request) as Promise<Success<Responses>>
  }

  #opener(method: string): Open {
    return (request) => this.#open(method, request)
  }

  async #open(method: string, request: Request): Promise<Response> {
    const { signal } = request
    const body = bodyText(method, request.body)
    const init: RequestInit = {
      method,
      headers: this.#headersFor(body, { accept: 'text/event-stream', ...request.headers }),
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    }
    let response: Response
    try {
      response = await this.#fetch(`${this.#base}${pathOf(request)}${queryText(request.query)}`, init)
    } catch (cause) {
      if (signal?.aborted) throw signal.reason
      throw this.#unreachable(cause)
    }
    const { status, statusText } = response
    if (!response.ok) throw failure({ status, statusText, text: await response.text().catch(() => '') })
    return response
  }

  async #send(method: string, request: Request): Promise<unknown> {
    const { signal, timeoutMs = this.#timeoutMs } = request
    const path = pathOf(request)
    const body = bodyText(method, request.body)
    let answer: Answer
    try {
      answer = await this.#transport({
        method,
        path: path + queryText(request.query),
        headers: this.#headersFor(body, request.headers),
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
    return answer.text ? JSON.parse(answer.text) : undefined
  }

  /** The names of headers that generated functions give are not all in lower case. */
  #headersFor(body: string | undefined, more: object | undefined): Record<string, string> {
    const headers: Record<string, string> = { ...this.#headers }
    for (const [name, value] of Object.entries(more ?? {})) if (value !== undefined) headers[name.toLowerCase()] = String(value)
    if (body !== undefined) headers['content-type'] = 'application/json'
    return headers
  }

  #unreachable(cause: unknown): RiverrunError {
    return new RiverrunError('UNREACHABLE', `${this.#base} cannot be reached: ${reason(cause)}`, { cause })
  }
}

/** The path of a request with its parameters in place. */
function pathOf({ url, path }: Request): string {
  const values = (path ?? {}) as Record<string, unknown>
  return url.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])))
}

/** A POST always has a body: the server takes an empty object where an operation has none. */
function bodyText(method: string, body: unknown): string | undefined {
  if (body instanceof JsonText) return body.text
  if (body !== undefined) return JSON.stringify(body)
  return method === 'POST' ? '{}' : undefined
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

/** Lists are joined with commas, dates written as ISO 8601. */
function queryText(query: unknown): string {
  const params = new URLSearchParams()
  for (const [key, value] of Object.entries(query ?? {})) {
    if (value === undefined) continue
    params.set(key, Array.isArray(value) ? value.join(',') : value instanceof Date ? value.toISOString() : String(value))
  }
  return params.size ? `?${params}` : ''
}
