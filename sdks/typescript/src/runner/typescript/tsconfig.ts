/**
 * What a project's tsconfig.json says about imports: `paths`, `baseUrl` and `verbatimModuleSyntax`, and
 * the files that it extends.
 */

import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { parseJsonc } from './jsonc.ts'

export interface TsConfig {
  /** Where an import of this name may lead, as paths that may lack their ending. */
  candidates(specifier: string): string[]
  /** Imports that nothing uses stay. */
  keepImports: boolean
}

interface CompilerOptions {
  baseUrl?: string
  paths?: Record<string, string[]>
  /** The folder that `paths` start from where there is no `baseUrl`. */
  pathsFolder?: string
  verbatimModuleSyntax?: boolean
}

interface Written {
  extends?: string | string[]
  compilerOptions?: Omit<CompilerOptions, 'pathsFolder'>
}

const none: TsConfig = { candidates: () => [], keepImports: false }
const known = new Map<string, TsConfig>()

/** The nearest one, in this folder or above. */
export function tsconfigOf(folder: string): TsConfig {
  let config = known.get(folder)
  if (!config) {
    const file = join(folder, 'tsconfig.json')
    const above = dirname(folder)
    if (existsSync(file)) config = read(file)
    else config = above === folder ? none : tsconfigOf(above)
    known.set(folder, config)
  }
  return config
}

function read(file: string): TsConfig {
  const { baseUrl, paths = {}, pathsFolder, verbatimModuleSyntax } = options(file, dirname(file), [])
  const from = baseUrl ?? pathsFolder ?? dirname(file)
  const patterns = Object.entries(paths).map(([pattern, targets]) => ({ pattern, star: pattern.indexOf('*'), targets }))
  // An exact name counts most, then the longest beginning.
  patterns.sort((a, b) => (b.star < 0 ? Infinity : b.star) - (a.star < 0 ? Infinity : a.star) || 0)
  return {
    keepImports: verbatimModuleSyntax === true,
    candidates(specifier) {
      const found = patterns.map(({ pattern, star, targets }) => ({ targets, matched: match(pattern, star, specifier) })).find(({ matched }) => matched !== undefined)
      const mapped = (found?.targets ?? []).map((target) => resolve(from, target.replace('*', () => found!.matched!)))
      return baseUrl === undefined ? mapped : [...mapped, resolve(baseUrl, specifier)]
    },
  }
}

function match(pattern: string, star: number, specifier: string): string | undefined {
  if (star < 0) return pattern === specifier ? '' : undefined
  const [before, after] = [pattern.slice(0, star), pattern.slice(star + 1)]
  const fits = specifier.length >= before.length + after.length && specifier.startsWith(before) && specifier.endsWith(after)
  return fits ? specifier.slice(before.length, specifier.length - after.length) : undefined
}

/** The options of a file over those that it extends. `root` is the folder of the first one. */
function options(file: string, root: string, seen: string[]): CompilerOptions {
  if (seen.includes(file)) return {}
  const written = parse(file)
  const folder = dirname(file)
  const inherited = [written.extends ?? []].flat().map((base) => {
    const found = typeof base === 'string' ? extended(base, file) : undefined
    return found ? options(found, root, [...seen, file]) : {}
  })
  const own: CompilerOptions = { ...written.compilerOptions }
  const filled = (text: string) => text.replace('${configDir}', root)
  if (own.baseUrl !== undefined) own.baseUrl = resolve(folder, filled(own.baseUrl))
  if (own.paths) {
    own.paths = Object.fromEntries(Object.entries(own.paths).map(([name, targets]) => [name, targets.map(filled)]))
    own.pathsFolder = folder
  }
  return Object.assign({}, ...inherited, own) as CompilerOptions
}

function parse(file: string): Written {
  try {
    return (parseJsonc(readFileSync(file, 'utf8')) ?? {}) as Written
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as Error).message}`)
  }
}

/** Undefined for a package that is not installed: what bases of packages say concerns the compiler. */
function extended(base: string, file: string): string | undefined {
  if (/^(\.{0,2}\/)/.test(base) || base === '.' || base === '..') {
    const path = resolve(dirname(file), base)
    return [path, `${path}.json`, join(path, 'tsconfig.json')].find((candidate) => candidate.endsWith('.json') && existsSync(candidate))
  }
  const { resolve: find } = createRequire(file)
  for (const name of [base, `${base}.json`, `${base}/tsconfig.json`]) {
    try {
      const found = find(name)
      if (found.endsWith('.json')) return found
    } catch {}
  }
  return undefined
}
