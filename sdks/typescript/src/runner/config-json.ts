/**
 * A config made JSON: schemas become JSON Schema, functions their source text.
 */

import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { RiverrunError } from '../errors.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { source } from '../source.ts'

export async function configJson(config: unknown, file: string): Promise<JsonObject> {
  if (config === undefined || config === null) return {}
  if (!isObject(config)) throw invalid(file, 'config', `must be an object, is ${typeof config}`)
  return (await json(config, { file, path: 'config', around: [] })) as JsonObject
}

interface Place {
  file: string
  path: string
  around: object[]
}

async function json(value: unknown, place: Place): Promise<Json | undefined> {
  if (value === undefined) return undefined
  if (typeof value === 'function') return isSchema(value) ? jsonSchema(value, place) : { $function: source(value) }
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value !== 'object') throw invalid(place.file, place.path, `is ${String(value)}, which is not JSON`)
  if (place.around.includes(value)) throw invalid(place.file, place.path, 'contains itself')
  if (isSchema(value)) return jsonSchema(value, place)
  if (value instanceof RegExp) return value.source
  if ('toJSON' in value && typeof value.toJSON === 'function') return json(value.toJSON(), place)
  const around = [...place.around, value]
  if (Array.isArray(value)) {
    const items = value.map((item, index) => json(item, { ...place, path: `${place.path}[${index}]`, around }))
    return (await Promise.all(items)).map((item) => item ?? null)
  }
  const object: JsonObject = {}
  for (const [key, member] of Object.entries(value)) {
    const made = await json(member, { ...place, path: `${place.path}.${key}`, around })
    if (made !== undefined) object[key] = made
  }
  return object
}

type Convert = (options: object) => unknown

interface SchemaLike {
  _zod?: unknown
  _def?: { typeName?: unknown }
  toJSONSchema?: Convert
  toJsonSchema?: Convert
  '~standard'?: { vendor?: string; jsonSchema?: { input?: Convert } }
}

function isSchema(value: object): boolean {
  const schema = value as SchemaLike
  return '_zod' in schema || isZod3(schema) || isObject(schema['~standard'])
}

function isZod3(schema: SchemaLike): boolean {
  return isObject(schema._def) && typeof schema._def.typeName === 'string' && schema._def.typeName.startsWith('Zod')
}

/** What comes in is what is checked, so a schema's input side counts. */
const options = { io: 'input', unrepresentable: 'any' }

/** Inputs are parsed: what is coerced may come as anything. */
const inputOptions = { ...options, override: ({ zodSchema, jsonSchema }: Overridden) => takesAnything(zodSchema?._zod?.def) && clear(jsonSchema) }

interface Overridden {
  zodSchema?: { _zod?: { def?: ZodDef } }
  jsonSchema: Record<string, unknown>
}

/** Of zod 4, or of zod 3. */
interface ZodDef {
  coerce?: boolean
  type?: string
  in?: { _zod?: { def?: ZodDef } }
  effect?: { type?: string }
}

function takesAnything(def: ZodDef | undefined): boolean {
  const isPreprocessed = (def?.type === 'pipe' && def.in?._zod?.def?.type === 'transform') || def?.effect?.type === 'preprocess'
  return def?.coerce === true || isPreprocessed
}

function clear(schema: Record<string, unknown>): void {
  for (const key of Object.keys(schema)) delete schema[key]
}

async function jsonSchema(value: object, place: Place): Promise<Json> {
  const schema = value as SchemaLike
  const standard = schema['~standard']
  const wanted = place.path === 'config.inputSchema' ? inputOptions : options
  try {
    if (typeof schema.toJSONSchema === 'function') return plain(schema.toJSONSchema(wanted))
    if (typeof schema.toJsonSchema === 'function') return plain(schema.toJsonSchema({}))
    if (standard?.jsonSchema?.input) return plain(standard.jsonSchema.input({ target: 'draft-2020-12' }))
    if ('_zod' in schema) return await zod4(schema, place, wanted)
    if (isZod3(schema)) return await zod3(schema, place, wanted === inputOptions)
  } catch (error) {
    if (error instanceof RiverrunError) throw error
    throw invalid(place.file, place.path, `cannot be made JSON Schema: ${(error as Error).message}`)
  }
  throw invalid(place.file, place.path, `is a schema of ${standard?.vendor ?? 'a library'} that cannot be made JSON Schema; give a JSON Schema instead`)
}

async function zod4(schema: SchemaLike, place: Place, options: object): Promise<Json> {
  for (const name of ['zod', 'zod/v4', 'zod/v4/core']) {
    const zod = (await importFrom(place.file, name)) as { toJSONSchema?: (schema: unknown, options: object) => unknown } | undefined
    if (zod?.toJSONSchema) return plain(zod.toJSONSchema(schema, options))
  }
  throw invalid(place.file, place.path, 'is a zod schema, but zod is not found in the project (npm i zod)')
}

async function zod3(schema: SchemaLike, place: Place, isInput: boolean): Promise<Json> {
  const module = (await importFrom(place.file, 'zod-to-json-schema')) as { zodToJsonSchema?: (schema: unknown, options?: object) => unknown; ignoreOverride?: symbol } | undefined
  const { zodToJsonSchema, ignoreOverride } = module ?? {}
  const override = (def: ZodDef): unknown => (takesAnything(def) ? {} : ignoreOverride)
  if (zodToJsonSchema) return plain(zodToJsonSchema(schema, isInput && ignoreOverride ? { override } : {}))
  throw invalid(place.file, place.path, 'is a schema of zod 3, which needs a package to become JSON Schema (npm i zod-to-json-schema), or zod 4')
}

async function importFrom(file: string, name: string): Promise<Record<string, unknown> | undefined> {
  let path: string
  try {
    path = createRequire(file).resolve(name)
  } catch {
    return undefined
  }
  const module = (await import(pathToFileURL(path).href)) as Record<string, unknown>
  return isObject(module.default) ? { ...module.default, ...module } : module
}

function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}

function invalid(file: string, path: string, problem: string): RiverrunError {
  return new RiverrunError('MODULE_CONFIG', `${path} in ${file} ${problem}`, { retriable: false, details: { path } })
}
