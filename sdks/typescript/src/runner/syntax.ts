/**
 * Where a module does not parse. Node says so for CommonJS; for ES modules it says it only of
 * errors that end a process, so a process is started that ends of it.
 */

import { execFile } from 'node:child_process'

export interface Place {
  file: string
  line: number
  column?: number
  /** The line itself, and marks below what is wrong. */
  shown: string
}

const patienceMs = 5_000

/** Undefined if the place is unknown. */
export async function syntaxPlace(error: Error, file: string): Promise<Place | undefined> {
  const own = placeIn(error.stack ?? '')
  if (own || !/\.[cm]?js$/.test(file)) return own
  const said = await new Promise<string>((resolve) => {
    const options = { timeout: patienceMs, maxBuffer: 1024 * 1024 }
    const flags = ['--experimental-vm-modules', '--no-warnings', '--input-type=commonjs']
    execFile(process.execPath, [...flags, '-e', parse, file], options, (_, __, stderr) => resolve(stderr))
  })
  return placeIn(said)
}

/** Errors that Node shows begin with `file:line`, the line, and marks below it. */
function placeIn(text: string): Place | undefined {
  const [at = '', line = '', marks = ''] = text.split('\n')
  const [, file, number] = /^(?:file:\/\/)?(\/.*):(\d+)$/.exec(at) ?? []
  if (!file) return undefined
  const column = /^\s*\^+\s*$/.test(marks) ? marks.indexOf('^') + 1 : undefined
  const isLong = line.length > 200
  return { file, line: Number(number), ...(column && { column }), shown: isLong ? '' : `${line}\n${marks.trimEnd()}` }
}

/** Parses a module and what it imports from files, and runs none of it. */
const parse = `
const { readFileSync } = require('node:fs')
const { resolve, dirname } = require('node:path')
const { SourceTextModule } = require('node:vm')
const seen = new Set()
function look(file) {
  if (seen.has(file) || seen.size > 500) return
  seen.add(file)
  let text
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return
  }
  const module = new SourceTextModule(text, { identifier: file })
  for (const name of module.dependencySpecifiers) {
    if (/^\\.{0,2}\\/.*\\.m?js$/.test(name)) look(resolve(dirname(file), name))
  }
}
look(process.argv[1])
`
