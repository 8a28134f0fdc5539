/**
 * Evaluates expressions with what the server's sandbox has, and with nothing else: a test that uses
 * Node's globals, a clock or chance would pass here and fail there. It keeps tests honest; it is no
 * wall against code that means harm.
 */

import { Script, createContext } from 'node:vm'

/** What an expression may answer with, in bytes of JSON. */
const resultBytes = 1024 * 1024

type Call = (...args: unknown[]) => unknown

/** An expression that has no JSON answer, or none at once. */
const asynchronous = 'expression is asynchronous: expressions answer at once and cannot await'

/** The names that the engine of the server has. */
const names = [
  'Object', 'Function', 'Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError', 'AggregateError', 'Array', 'Number', 'Boolean',
  'String', 'Symbol', 'BigInt', 'Math', 'Reflect', 'Iterator', 'parseInt', 'parseFloat', 'isNaN', 'isFinite', 'decodeURI', 'decodeURIComponent', 'encodeURI',
  'encodeURIComponent', 'escape', 'unescape', 'Infinity', 'NaN', 'undefined', 'globalThis', 'Date', 'eval', 'RegExp', 'JSON', 'Proxy', 'Map', 'Set', 'WeakMap', 'WeakSet',
  'Promise', 'ArrayBuffer', 'DataView', 'Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'BigInt64Array',
  'BigUint64Array', 'Float16Array', 'Float32Array', 'Float64Array',
]

/** Runs once in the context; gives the function that calls an expression with JSON and takes JSON from it. */
const prelude = `"use strict";
((names) => {
  for (const name of Object.getOwnPropertyNames(globalThis)) if (!names.includes(name)) delete globalThis[name]
  const { parse, stringify } = JSON
  const define = (object, key, value) => Object.defineProperty(object, key, { value, writable: true, enumerable: false, configurable: true })
  const refuse = (what, pass) => { throw new TypeError(what + ' is not available: expressions are deterministic, pass the ' + pass + ' in as input') }
  const EngineDate = Date
  const GivenDate = function Date(...given) {
    if (new.target === undefined) refuse('Date()', 'time')
    if (given.length === 0) refuse('new Date()', 'time')
    return Reflect.construct(EngineDate, given, new.target)
  }
  define(GivenDate, 'parse', EngineDate.parse)
  define(GivenDate, 'UTC', EngineDate.UTC)
  define(GivenDate, 'now', () => refuse('Date.now()', 'time'))
  GivenDate.prototype = EngineDate.prototype
  define(EngineDate.prototype, 'constructor', GivenDate)
  define(globalThis, 'Date', GivenDate)
  define(Math, 'random', () => refuse('Math.random()', 'number'))
  return (call, args) => {
    const value = call(...args.map((arg) => parse(arg)))
    if (value instanceof Promise) throw new TypeError(${JSON.stringify(asynchronous)})
    if (['function', 'symbol', 'bigint'].includes(typeof value)) throw new TypeError('expression result is not JSON: it is a ' + typeof value)
    try {
      return stringify(value)
    } catch (error) {
      throw new TypeError('expression result is not JSON: ' + error.message)
    }
  }
})`

let sandbox: { context: object; answer: (call: Call, args: string[]) => string | undefined } | undefined

/** What an expression gives for these arguments, by way of JSON. What it throws is thrown. */
export function evaluated(text: string, args: Record<string, unknown>): unknown {
  const call = compiled(text, Object.keys(args))
  const given = Object.values(args).map((arg) => JSON.stringify(arg) ?? 'null')
  const json = theSandbox().answer(call, given)
  const bytes = json === undefined ? 0 : Buffer.byteLength(json)
  if (bytes > resultBytes) throw new RangeError(`expression result has ${bytes} bytes, the limit is ${resultBytes}`)
  return json === undefined ? undefined : JSON.parse(json)
}

/** Why the server would not take an expression in; undefined if it would. */
export function syntaxProblem(text: string): string | undefined {
  if (/^\s*async(\s*\(|\s+[\p{Alphabetic}_$])/u.test(text)) return asynchronous
  try {
    compiled(text, [])
    return undefined
  } catch (error) {
    return `expression does not parse: ${(error as Error).message}`
  }
}

function compiled(text: string, names: string[]): Call {
  const list = names.join(', ')
  const script = new Script(`"use strict"; ((${list}) => { const given = (\n${text}\n); return typeof given === 'function' ? given(${list}) : given })`)
  return script.runInContext(theSandbox().context)
}

function theSandbox(): NonNullable<typeof sandbox> {
  if (sandbox) return sandbox
  const context = createContext({}, { codeGeneration: { strings: false, wasm: false } })
  const harden = new Script(prelude).runInContext(context)
  return (sandbox = { context, answer: harden(names) })
}
