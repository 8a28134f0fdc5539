/**
 * Inputs as handlers get them: where the schema of a config can parse, what it makes of them, with
 * its defaults and coercions. The server has held them against the JSON Schema before.
 */

import { RiverrunError } from '../errors.ts'
import { isObject } from '../json.ts'
import type { InvokeParams } from '../wire.ts'

/** What a schema makes of an input; a promise if it takes its time. Throws what the server would refuse it with. */
export type Parse = (input: unknown) => unknown

/** An invocation with its inputs parsed. A job of a batch whose input was refused is left out of it. */
export interface Parsed {
  params: InvokeParams
  refused: Map<number, RiverrunError>
}

interface Issue {
  message: string
  path?: readonly unknown[]
  code?: unknown
}

type Outcome = { value: unknown; issues?: undefined } | { issues: readonly Issue[] }

/** Undefined for what cannot parse, such as a JSON Schema. */
export function parserOf(schema: unknown): Parse | undefined {
  const validate = validatorOf(schema)
  if (!validate) return undefined
  return (input) => {
    const outcome = validate(input)
    return outcome instanceof Promise ? outcome.then(valueOf) : valueOf(outcome)
  }
}

/** Throws, or is rejected, with what is wrong with the input; of a batch each input is its job's affair. */
export function parsedInputs(parse: Parse, params: InvokeParams): Parsed | Promise<Parsed> {
  const { jobs } = params
  if (!jobs) {
    const given = (input: unknown): Parsed => ({ params: { ...params, input }, refused: new Map() })
    const input = parse(params.input)
    return input instanceof Promise ? input.then(given) : given(input)
  }
  const given = (inputs: unknown[]): Parsed => {
    const refused = new Map<number, RiverrunError>()
    for (const [at, input] of inputs.entries()) if (input instanceof RiverrunError) refused.set(at, input)
    const accepted = jobs.map((job, at) => ({ ...job, input: inputs[at] })).filter((_, at) => !refused.has(at))
    return { params: { ...params, jobs: accepted }, refused }
  }
  const inputs = jobs.map(({ input }) => parsedOrRefused(parse, input))
  return inputs.some((input) => input instanceof Promise) ? Promise.all(inputs).then(given) : given(inputs)
}

/** What a handler returned for the jobs that it was given, with the errors of the others in their places. */
export function withRefused(value: unknown, refused: ReadonlyMap<number, RiverrunError>, jobs: number): unknown {
  if (!refused.size) return value
  const given = jobs - refused.size
  const each: unknown[] = Array.isArray(value) ? [...value] : new Array(given).fill(value)
  if (each.length !== given) throw new RiverrunError('BATCH_RESULTS', `the handler returned ${each.length} results for ${given} jobs`, { retriable: false })
  return Array.from({ length: jobs }, (_, at) => refused.get(at) ?? each.shift())
}

function parsedOrRefused(parse: Parse, input: unknown): unknown {
  const refused = (error: unknown): RiverrunError => {
    if (error instanceof RiverrunError) return error
    throw error
  }
  try {
    const parsed = parse(input)
    return parsed instanceof Promise ? parsed.catch(refused) : parsed
  } catch (error) {
    return refused(error)
  }
}

function validatorOf(schema: unknown): ((input: unknown) => Outcome | Promise<Outcome>) | undefined {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return undefined
  const { '~standard': standard, safeParse } = schema as { '~standard'?: unknown; safeParse?: unknown }
  if (isObject(standard) && typeof standard.validate === 'function') return (input) => (standard.validate as (input: unknown) => Outcome)(input)
  // zod before it followed the standard.
  if (typeof safeParse !== 'function') return undefined
  return (input) => {
    const { success, data, error } = (schema as { safeParse(input: unknown): any }).safeParse(input)
    return success ? { value: data } : { issues: error.issues }
  }
}

function valueOf(outcome: Outcome): unknown {
  if (!outcome.issues) return outcome.value
  const issues = outcome.issues.map(({ message, path = [], code }) => ({
    path: path.map((part) => String(isObject(part) ? part.key : part)).join('.'),
    rule: typeof code === 'string' ? code : 'schema',
    message,
  }))
  const [first] = issues
  const issue = first ? `${first.path ? ` at ${JSON.stringify(first.path)}` : ''}: ${first.message}` : ''
  throw new RiverrunError('INPUT_INVALID', `the input breaks the schema${issue}`, { retriable: false, details: { issues } })
}
