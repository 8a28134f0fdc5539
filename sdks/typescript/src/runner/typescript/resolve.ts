/**
 * Finds the file that an import of a TypeScript file means, where Node alone would not: names without
 * an ending, names that end in `.js` and mean `.ts`, folders, and what tsconfig.json maps.
 */

import { readFileSync, realpathSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, extname, join, resolve } from 'node:path'
import { tsconfigOf } from './tsconfig.ts'

const swapped: Record<string, string> = { '.js': '.ts', '.mjs': '.mts', '.cjs': '.cts' }
const endings = ['.ts', '.mts', '.cts', '.js', '.mjs', '.cjs', '.json']
const scheme = /^[a-z][a-z0-9+.-]*:/i

/** TypeScript of the project, which packages are not part of. */
export function isTypeScript(file: string): boolean {
  return /\.[cm]?ts$/.test(file) && !/[\\/]node_modules[\\/]/.test(file)
}

/** Undefined where Node's own rules say it. */
export function resolveFrom(specifier: string, parent: string): string | undefined {
  if (isBuiltin(specifier) || scheme.test(specifier)) return undefined
  if (/^\.{0,2}\//.test(specifier) || specifier === '.' || specifier === '..') return fileOf(resolve(dirname(parent), specifier))
  for (const candidate of tsconfigOf(dirname(parent)).candidates(specifier)) {
    const file = fileOf(candidate)
    if (file) return file
  }
  return undefined
}

/** The file that a path means. */
export function fileOf(path: string): string | undefined {
  const ending = extname(path)
  const other = swapped[ending]
  const direct = [...(other ? [path.slice(0, -ending.length) + other] : []), path, ...endings.map((added) => path + added)]
  const found = direct.find(isFile) ?? endings.map((added) => join(path, `index${added}`)).find(isFile)
  return found && realpathSync(found)
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}

const types = new Map<string, 'module' | 'commonjs' | undefined>()

/** What the ending of a file or its package says; undefined if neither says anything. */
export function formatOf(file: string): 'module' | 'commonjs' | undefined {
  if (file.endsWith('.mts')) return 'module'
  return file.endsWith('.cts') ? 'commonjs' : typeOf(dirname(file))
}

function typeOf(folder: string): 'module' | 'commonjs' | undefined {
  if (types.has(folder)) return types.get(folder)
  const above = dirname(folder)
  const written = packageType(join(folder, 'package.json'))
  const type = written === null ? (above === folder ? undefined : typeOf(above)) : written
  types.set(folder, type)
  return type
}

/** Null where there is no package. */
function packageType(file: string): 'module' | 'commonjs' | undefined | null {
  try {
    const { type } = JSON.parse(readFileSync(file, 'utf8')) as { type?: unknown }
    return type === 'module' || type === 'commonjs' ? type : undefined
  } catch {
    return null
  }
}
