/**
 * Makes Node load TypeScript, whatever its version: by hooks in this thread where Node has them (22.15
 * and newer), else by hooks in the thread that Node keeps for those of `import`, and by changes of
 * `require`. This file is the module of that thread as well.
 */

import { readFileSync, statSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { fileOf, formatOf, isTypeScript, resolveFrom } from './resolve.ts'
import { failed, givenPlace, type JavaScript, type Place, translate } from './translator.ts'
import { tsconfigOf } from './tsconfig.ts'

interface Resolved {
  url: string
  format?: string | null
  shortCircuit?: boolean
  importAttributes?: Record<string, string>
}

interface Loaded {
  format: string
  source?: string | null
  shortCircuit?: boolean
}

type ResolveContext = { parentURL?: string; importAttributes?: Record<string, string> }
type Next<Context, Result> = (name: string, context: Context) => Result

interface Hooks {
  resolve: (specifier: string, context: ResolveContext, next: Next<ResolveContext, Resolved>) => Resolved
  load: (url: string, context: object, next: Next<object, Loaded>) => Loaded
}

interface OldLoader {
  _extensions: Record<string, (module: { _compile(code: string, file: string): void }, file: string) => void>
  _resolveFilename: (request: string, parent: { filename?: string | null } | undefined, ...rest: unknown[]) => string
}

const fileBytes = 8 * 1024 * 1024
const { registerHooks } = nodeModule as { registerHooks?: (hooks: Hooks) => void }

let place: Place | undefined

/** Whether TypeScript can be loaded; false if this runner has no translator. */
export function loadsTypeScript(): boolean {
  return place !== undefined
}

/** `url` is where this module is. */
export function provideTypeScript(url: string): void {
  place = givenPlace()
  if (!place) return
  if (registerHooks) return registerHooks({ resolve: resolveNow, load: loadNow })
  nodeModule.register(url, { data: place })
  changeRequire()
}

/** Called before a file of TypeScript is imported. */
export function beforeTypeScript(): void {
  // The thread of the hooks cannot do it when it meets the first file with a source map.
  if (!registerHooks) enableSourceMaps()
}

function enableSourceMaps(): void {
  process.setSourceMapsEnabled(true)
}

// Hooks in this thread.

function resolveNow(specifier: string, context: ResolveContext, next: Next<ResolveContext, Resolved>): Resolved {
  const parent = parentOf(context)
  if (!parent) return next(specifier, context)
  const own = ownResolution(specifier, parent)
  if (own) return own
  try {
    return withAttributes(next(specifier, context))
  } catch (error) {
    return instead(error)
  }
}

function loadNow(url: string, context: object, next: Next<object, Loaded>): Loaded {
  const file = typeScriptAt(url)
  if (!file) return next(url, context)
  const { code, format } = javaScriptOf(file)
  return { format, source: code, shortCircuit: true }
}

// Hooks in the thread that Node keeps for them.

export function initialize(given: Place): void {
  place = given
}

export async function resolve(specifier: string, context: ResolveContext, next: Next<ResolveContext, Promise<Resolved>>): Promise<Resolved> {
  const parent = parentOf(context)
  if (!parent) return next(specifier, context)
  const own = ownResolution(specifier, parent)
  if (own) return own
  try {
    return withAttributes(await next(specifier, context))
  } catch (error) {
    return instead(error)
  }
}

export async function load(url: string, context: object, next: Next<object, Promise<Loaded>>): Promise<Loaded> {
  const file = typeScriptAt(url)
  if (!file) return next(url, context)
  const { code, format } = javaScriptOf(file)
  // CommonJS without a source is left to `require`.
  return { format, source: format === 'module' ? code : null, shortCircuit: true }
}

function changeRequire(): void {
  const loader = nodeModule.Module as unknown as OldLoader
  const plain = loader._extensions['.js']!
  const value: OldLoader['_extensions'][string] = (module, file) => {
    if (!isTypeScript(file)) return plain(module, file)
    const { code, format } = javaScriptOf(file)
    if (format === 'module') throw Object.assign(new Error(`${file} is an ES module; import it instead of requiring it`), { code: 'ERR_REQUIRE_ESM' })
    module._compile(code, file)
  }
  // Not enumerable: packages do not find such files by names without an ending.
  for (const ending of ['.ts', '.mts', '.cts']) Object.defineProperty(loader._extensions, ending, { value, configurable: true, writable: true })
  const before = loader._resolveFilename
  loader._resolveFilename = function (request, parent, ...rest) {
    const file = parent?.filename
    return (file && isTypeScript(file) && resolveFrom(request, file)) || before.call(this, request, parent, ...rest)
  }
}

// What all of them share.

function parentOf({ parentURL }: ResolveContext): string | undefined {
  return parentURL && typeScriptAt(parentURL)
}

function typeScriptAt(url: string): string | undefined {
  if (!url.startsWith('file:')) return undefined
  const file = fileURLToPath(url)
  return isTypeScript(file) ? file : undefined
}

function ownResolution(specifier: string, parent: string): Resolved | undefined {
  const [, path = specifier, rest = ''] = /^(\.[^?#]*)([?#].*)?$/.exec(specifier) ?? []
  const file = resolveFrom(path, parent)
  return file ? withAttributes({ url: pathToFileURL(file).href + rest, shortCircuit: true }) : undefined
}

/** JSON needs no attribute in TypeScript. */
function withAttributes(resolved: Resolved): Resolved {
  if (!/^file:[^?#]*\.json$/.test(resolved.url)) return resolved
  return { ...resolved, format: 'json', importAttributes: { type: 'json' } }
}

/** A package may name `.js` files that are `.ts` until they are built. */
function instead(error: unknown): Resolved {
  const { code, url } = error as { code?: string; url?: string }
  const file = code === 'ERR_MODULE_NOT_FOUND' && url?.startsWith('file:') ? fileOf(fileURLToPath(url)) : undefined
  if (!file) throw error
  return withAttributes({ url: pathToFileURL(file).href, shortCircuit: true })
}

function javaScriptOf(file: string): JavaScript {
  if (statSync(file).size > fileBytes) throw failed(`${file} has more than ${fileBytes / 1024 / 1024} MiB`)
  const { keepImports } = tsconfigOf(dirname(file))
  const format = formatOf(file)
  const javaScript = translate(place!, { file, text: readFileSync(file, 'utf8'), ...(format && { format }), keepImports })
  if (javaScript.isMapped && isMainThread) enableSourceMaps()
  return javaScript
}
