/**
 * Loading TypeScript: by Node itself where it can, else with `tsx` or `esbuild` from the user's
 * project. This package brings no compiler of its own.
 */

import { createRequire, register } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RiverrunError } from '../errors.ts'
import { asUrl } from './hooks.ts'

type Loader = (file: string) => Promise<unknown>

const native: Loader = (file) => import(pathToFileURL(file).href)

let foreign: { loader: Loader } | undefined

export async function importTypeScript(file: string): Promise<unknown> {
  if (!(process.features as { typescript?: unknown }).typescript) return (await foreignLoader(file, missing))(file)
  try {
    return await native(file)
  } catch (error) {
    // Enums, namespaces, parameter properties: more than taking types away.
    if ((error as { code?: string }).code !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') throw error
    const load = await foreignLoader(file, () => error as Error)
    return load(file)
  }
}

async function foreignLoader(file: string, otherwise: (file: string) => Error): Promise<Loader> {
  if (foreign) return foreign.loader
  const loader = (await tsx(file)) ?? (await esbuild(file))
  if (!loader) throw otherwise(file)
  foreign = { loader }
  return loader
}

function missing(file: string): Error {
  return new RiverrunError(
    'MODULE_TS',
    `${file} is TypeScript, and Node ${process.versions.node} cannot run it. Install tsx in the project (npm i -D tsx), or use Node 22.18 or newer`,
    { retriable: false },
  )
}

async function tsx(file: string): Promise<Loader | undefined> {
  const manifest = resolveFrom(file, 'tsx/package.json')
  if (!manifest) return undefined
  const { exports } = createRequire(manifest)(manifest) as { exports: Record<string, { import: { default: string } }> }
  for (const entry of ['./cjs/api', './esm/api']) {
    // Its ES modules: those for `require` cannot register hooks for `import`.
    const api = join(dirname(manifest), exports[entry]?.import.default ?? '')
    ;((await import(pathToFileURL(api).href)) as { register(): void }).register()
  }
  // Node remembers a module that it could not load by itself; the query tells this one from it.
  return (path) => import(`${pathToFileURL(path).href}?tsx`)
}

async function esbuild(file: string): Promise<Loader | undefined> {
  const path = resolveFrom(file, 'esbuild')
  if (!path) return undefined
  register(asUrl(esbuildHooks), { data: { esbuild: pathToFileURL(path).href } })
  return native
}

function resolveFrom(file: string, specifier: string): string | undefined {
  try {
    return createRequire(file).resolve(specifier)
  } catch {
    return undefined
  }
}

/** Runs in the thread that Node keeps for hooks, so it is text of its own. */
const esbuildHooks = `
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

let esbuild
export async function initialize(data) {
  esbuild = await import(data.esbuild)
  esbuild = esbuild.default ?? esbuild
}

const isTypeScript = (url) => url.startsWith('file:') && /\\.m?tsx?$/.test(url.split('?', 1)[0])

/** As TypeScript resolves: './a.js' may be './a.ts', and './a' too. */
function candidates(specifier) {
  if (!/^\\.{0,2}\\//.test(specifier)) return []
  if (/\\.m?js$/.test(specifier)) return [specifier.replace(/js$/, 'ts')]
  return [specifier + '.ts', specifier + '.mts', specifier + '/index.ts']
}

export async function resolve(specifier, context, next) {
  try {
    return await next(specifier, context)
  } catch (error) {
    for (const candidate of context.parentURL && isTypeScript(context.parentURL) ? candidates(specifier) : []) {
      try {
        return await next(candidate, context)
      } catch {}
    }
    throw error
  }
}

export async function load(url, context, next) {
  if (!isTypeScript(url)) return next(url, context)
  const file = fileURLToPath(url.split('?', 1)[0])
  const { code } = await esbuild.transform(await readFile(file, 'utf8'), {
    loader: 'ts',
    format: 'esm',
    target: 'node' + process.versions.node,
    sourcefile: file,
    sourcemap: 'inline',
  })
  return { format: 'module', source: code, shortCircuit: true }
}`
