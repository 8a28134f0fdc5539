/**
 * Loads the modules of a project and finds the processes in them.
 *
 * A module is loaded once in the life of a runner. Node cannot drop a module that it has loaded or
 * tried to load, nor those that it imports in turn, so a newer revision, and one that has failed, is
 * answered with RELOAD: the server then starts a fresh runner, and this one ends what it runs with
 * the code that it began with.
 */

import { extname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { LoggerConfig, ProcessConfig } from '../config.ts'
import { redactor } from '../ctx/redact.ts'
import type { LogSettings } from '../ctx/logger.ts'
import { definition } from '../define.ts'
import { RiverrunError } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import { configJson } from './config-json.ts'
import { type Parse, parserOf } from './inputs.ts'
import { importPlace } from './missing.ts'
import { syntaxPlace } from './syntax.ts'
import { beforeTypeScript, loadsTypeScript } from './typescript/hooks.ts'

export interface Process {
  handler: (first: unknown, ctx: unknown) => unknown
  /** Whether the handler gets the job or its input. */
  takes: 'input' | 'job'
  config: JsonObject
  logs: LogSettings
  /** Where the schema of its input can do that. */
  parse: Parse | undefined
}

export type Processes = Map<string, Process>

interface Entry {
  revision: number
  loading: Promise<Processes>
  processes?: Processes
  hasFailed?: boolean
}

export class Modules {
  readonly #entries = new Map<string, Entry>()

  /** The processes of a module that is loaded, without waiting; undefined if `load` is needed. */
  loaded(file: string, revision: number | undefined): Processes | undefined {
    const entry = this.#entries.get(file)
    return entry && (revision ?? 0) <= entry.revision ? entry.processes : undefined
  }

  load(file: string, revision = 0): Promise<Processes> {
    const known = this.#entries.get(file)
    if (!known) return this.#begin(file, revision)
    if (revision > known.revision) return Promise.reject(stale(file, `is loaded at revision ${known.revision}; revision ${revision}`))
    // What kept it from loading may have passed.
    if (known.hasFailed) return Promise.reject(stale(file, 'could not be loaded; another try'))
    return known.loading
  }

  #begin(file: string, revision: number): Promise<Processes> {
    const entry: Entry = { revision, loading: processesOf(file) }
    this.#entries.set(file, entry)
    entry.loading.then(
      (processes) => (entry.processes = processes),
      () => (entry.hasFailed = true),
    )
    return entry.loading
  }
}

function stale(file: string, what: string): RiverrunError {
  return new RiverrunError('RELOAD', `${file} ${what} needs a fresh runner`)
}

async function processesOf(file: string): Promise<Processes> {
  const exports = await importFile(file)
  return processesIn(exports, file).catch((error) => {
    throw error instanceof RiverrunError ? withoutStack(error) : error
  })
}

async function processesIn(exports: Record<string, unknown>, file: string): Promise<Processes> {
  const processes: Processes = new Map()
  for (const [name, value] of Object.entries(exports)) {
    const defined = definition(value)
    if (typeof value !== 'function' || (name !== 'default' && (!defined || value === exports.default))) continue
    const own = { ...(value as { config?: ProcessConfig }).config, ...defined?.config }
    const config = name === 'default' ? { ...own, ...moduleConfig(exports, file) } : own
    processes.set(name, {
      handler: value as Process['handler'],
      takes: defined?.takes ?? 'input',
      config: await configJson(config, file),
      logs: logSettings(config.logger),
      parse: parserOf(config.inputSchema),
    })
  }
  return processes
}

/** What a module exports as `config` and `queue` speaks of its default export. */
function moduleConfig(exports: Record<string, unknown>, file: string): Partial<ProcessConfig> {
  const given = exports.config ?? {}
  if (!isObject(given)) {
    const what = Array.isArray(given) ? 'a list' : `a ${typeof given}`
    throw new RiverrunError('MODULE_CONFIG', `config in ${file} must be an object, and is ${what}`, { retriable: false, details: { path: 'config' } })
  }
  const config = given as ProcessConfig
  return typeof exports.queue === 'string' ? { ...config, queue: exports.queue } : config
}

function logSettings(config: LoggerConfig | undefined): LogSettings {
  return { level: config?.level ?? 'debug', redact: redactor(config?.redact) }
}

async function importFile(file: string): Promise<Record<string, unknown>> {
  try {
    if (['.ts', '.mts', '.cts'].includes(extname(file))) checkTypeScript(file)
    const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>
    return withoutWrapper(module)
  } catch (error) {
    throw error instanceof RiverrunError ? withoutStack(error) : await loadError(error, file)
  }
}

function checkTypeScript(file: string): void {
  if (loadsTypeScript()) return beforeTypeScript()
  if ((process.features as { typescript?: unknown }).typescript) return
  throw new RiverrunError('MODULE_TS', `${file} is TypeScript, which the program that started this runner does not translate`, { retriable: false })
}

/** A CommonJS module that was made from an ES module has its exports inside the default one. */
function withoutWrapper(module: Record<string, unknown>): Record<string, unknown> {
  const inner = module.default
  if (!isObject(inner)) return { ...module }
  return { ...module, ...inner }
}

async function loadError(thrown: unknown, file: string): Promise<RiverrunError> {
  const said = thrown instanceof Error ? thrown.message : String(thrown)
  // The stack of requires repeats the place.
  const message = said.replace(/\nRequire stack:\n[^]*/, '')
  if ((thrown as { code?: unknown })?.code === 'MODULE_TS') return withoutStack(new RiverrunError('MODULE_TS', message, { retriable: false }))
  const isSyntax = isParseError(thrown)
  const place = isSyntax ? await syntaxPlace(thrown as Error, file) : importPlace(thrown)
  const where = place ? [place.file, place.line, ...(place.column ? [place.column] : [])].join(':') : file
  const located = message.includes(where) ? message : `${where}: ${message}`
  const error = new RiverrunError(isSyntax ? 'MODULE_SYNTAX' : 'MODULE_ERROR', located, { retriable: false })
  error.name = thrown instanceof Error ? thrown.name : 'Error'
  error.stack = place ? `${where}\n${place.shown}` : ownFrames(thrown, file)
  return error
}

/** What the stack says of the user's code: the frames of Node and of this runner lead nowhere. */
function ownFrames(thrown: unknown, file: string): string {
  const stack = thrown instanceof Error && thrown.stack ? thrown.stack : String(thrown)
  const own = stack.split('\n').filter((line) => !isForeign(line)).join('\n')
  return own.includes(file) ? own : `${file}\n${own}`
}

/** The folder of this runner and of its hooks: frames name it as a URL or as a path. */
const runnerFolder = new URL('.', import.meta.url)

/** A frame of Node, or of this runner. */
function isForeign(line: string): boolean {
  return /^\s+at /.test(line) && ['node:', runnerFolder.href, fileURLToPath(runnerFolder)].some((part) => line.includes(part))
}

/** What this runner itself has to say of a module is all in its message. */
function withoutStack(error: RiverrunError): RiverrunError {
  error.stack = undefined
  return error
}

function isParseError(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  const { code } = thrown as { code?: unknown }
  if (code === 'ERR_INVALID_TYPESCRIPT_SYNTAX' || code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') return true
  if (thrown.name !== 'SyntaxError' || thrown.message.includes('does not provide an export')) return false
  // One that running code threw (JSON.parse, a regular expression) has that code in its stack.
  const stack = (thrown.stack ?? '').split('\n').filter((line) => !isForeign(line))
  return !stack.some((line) => /^\s+at .*(file:\/\/|\().*\.[cm]?[jt]sx?[:?]/.test(line))
}
