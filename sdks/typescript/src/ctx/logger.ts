import type { Logger, LogLevel } from '../context.ts'
import type { Link } from './link.ts'
import type { Redact } from './redact.ts'

const order: Record<LogLevel, number> = { debug: 0, info: 1, warn: 2, error: 3 }

export interface LogSettings {
  level: LogLevel
  redact: Redact
}

export class LinkLogger implements Logger {
  readonly #link: Link
  readonly #settings: LogSettings
  readonly #bindings: Record<string, unknown> | undefined

  constructor(link: Link, settings: LogSettings, bindings?: Record<string, unknown>) {
    this.#link = link
    this.#settings = settings
    this.#bindings = bindings
  }

  debug = (message: string, meta?: Record<string, unknown>): void => this.#log('debug', message, meta)
  info = (message: string, meta?: Record<string, unknown>): void => this.#log('info', message, meta)
  warn = (message: string, meta?: Record<string, unknown>): void => this.#log('warn', message, meta)
  error = (message: string, meta?: Record<string, unknown>): void => this.#log('error', message, meta)

  child = (bindings: Record<string, unknown>): Logger =>
    new LinkLogger(this.#link, this.#settings, { ...this.#bindings, ...bindings })

  #log(level: LogLevel, message: string, meta: Record<string, unknown> | undefined): void {
    const { redact, level: lowest } = this.#settings
    if (order[level] < order[lowest]) return
    const all = this.#bindings && meta ? { ...this.#bindings, ...meta } : (meta ?? this.#bindings)
    const line: Record<string, unknown> = { level, message: String(message) }
    if (all !== undefined) line.meta = redact(all)
    this.#link.notify('log', line)
  }
}
