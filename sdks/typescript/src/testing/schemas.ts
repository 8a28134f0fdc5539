/**
 * The schemas of a process, held against what goes into a handler and comes out of it, as the server
 * does it: by the JSON Schema that a config becomes, whatever library its schemas are of.
 */

import type { ProcessConfig } from '../config.ts'
import { RiverrunError } from '../errors.ts'
import { valueText } from '../runner/answer.ts'
import { configJson } from '../runner/config-json.ts'
import { type Parse, parserOf } from '../runner/inputs.ts'
import type { Check, SchemaIssue } from './json-schema.ts'

export interface Checks {
  /** What the schema makes of an input, as for a handler in a runner. */
  parse?: Parse | undefined
  input?: Check | undefined
  output?: Check | undefined
  state?: Check | undefined
}

const members = { input: 'inputSchema', output: 'outputSchema', state: 'state' } as const

/** What the schemas of a config check. Throws if one of them cannot be understood. */
export async function checksOf(config: ProcessConfig = {}, schemas = true): Promise<Checks> {
  const checks: Checks = {}
  if (!schemas) return checks
  checks.parse = parserOf(config.inputSchema)
  for (const [name, member] of Object.entries(members) as [keyof typeof members, keyof ProcessConfig][]) {
    if (config[member] !== undefined) checks[name] = await compiled(member, config[member])
  }
  return checks
}

/** A config is used by many tests, and a schema is compiled once. */
const known = new WeakMap<object, Promise<Check>>()

function compiled(member: string, schema: unknown): Promise<Check> {
  if (typeof schema !== 'object' && typeof schema !== 'function') return compile(member, schema)
  let check = known.get(schema as object)
  if (!check) known.set(schema as object, (check = compile(member, schema)))
  return check
}

async function compile(member: string, schema: unknown): Promise<Check> {
  // Where a library of schemas needs a package to become JSON Schema, the test's project has it.
  const { [member]: json } = await configJson({ [member]: schema }, `${process.cwd()}/`)
  const { compile } = await import('./json-schema.ts')
  try {
    return compile(json as object | boolean)
  } catch (error) {
    throw new RiverrunError('PROCESS_INVALID', `config.${member} is no JSON Schema: ${(error as Error).message}`, { retriable: false })
  }
}

/** Throws what the server refuses an input with. */
export function checkInput({ input: check }: Checks, input: unknown, what = 'the input'): void {
  refuse('INPUT_INVALID', `${what} breaks the schema`, check?.(asJson(input)))
}

/** The input as a handler gets it. Throws what the server or the schema refuses it with. */
export async function givenInput<T>(checks: Checks, input: T, what?: string): Promise<T> {
  checkInput(checks, input, what)
  return checks.parse ? ((await checks.parse(asJson(input))) as T) : input
}

/** What a result may have. */
const resultBytes = 1024 * 1024

/** Gives the result back, or throws what it fails with on the server. */
export function checkOutput<T>({ output: check }: Checks, value: T, what = 'the result'): T {
  valueText(value, resultBytes)
  refuse('OUTPUT_INVALID', `${what} breaks the output schema`, check?.(asJson(value)))
  return value
}

/** After "… breaks the schema": where, if it is not the whole value, and what. */
export function issueText({ path, message }: Pick<SchemaIssue, 'path' | 'message'>): string {
  return path ? ` at ${JSON.stringify(path)}: ${message}` : `: ${message}`
}

function refuse(code: string, what: string, issues: SchemaIssue[] = []): void {
  const [first] = issues
  if (first) throw new RiverrunError(code, what + issueText(first), { retriable: false, details: { issues } })
}

/** What is left of a value that goes over the wire. */
function asJson(value: unknown): unknown {
  return JSON.parse(valueText(value, Infinity))
}
