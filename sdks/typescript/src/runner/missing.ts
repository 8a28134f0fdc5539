/** Where the import stands whose module is not there: Node names the importing file, not the line. */

import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Place } from './syntax.ts'

const imported = /^Cannot find (?:module|package) '(.+?)' imported from (.+)$/m
const required = /^Cannot find module '(.+?)'\nRequire stack:\n- (.+)$/m
/** The name of a module in quotes, in an import, an export or a require. */
const specifiers = /\b(?:from|import|require)\s*\(?\s*(['"`])([^'"`]+)\1/g

/** Undefined for other errors, and where the line is not found. */
export function importPlace(thrown: unknown): Place | undefined {
  const { code, message = '' } = (thrown ?? {}) as { code?: unknown; message?: string }
  if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') return undefined
  const [, missing, parent] = imported.exec(message) ?? required.exec(message) ?? []
  if (!missing || !parent) return undefined
  const file = parent.startsWith('file:') ? fileURLToPath(parent) : parent
  const means = (name: string) => name === missing || name.startsWith(`${missing}/`) || resolve(dirname(file), name) === missing
  for (const [at, line] of linesOf(file).entries()) {
    for (const found of line.matchAll(specifiers)) {
      const [text, , name] = found as unknown as [string, string, string]
      if (!means(name)) continue
      const column = found.index! + text.length - name.length - 1
      const marks = ' '.repeat(column - 1) + '^'.repeat(name.length + 2)
      return { file, line: at + 1, column, shown: line.length > 200 ? '' : `${line}\n${marks}` }
    }
  }
  return undefined
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}
