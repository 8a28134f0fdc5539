import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The installed version of a package. */
export function version(name) {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'node_modules', name, 'package.json'), 'utf8')).version
}
