import { RiverrunError } from '../errors.ts'
import { source } from '../source.ts'

/**
 * What an expression or a function gives, called as the server calls it: from its text, so that it
 * sees its arguments and no variable around it. What it throws is thrown. But one that is no
 * JavaScript, or needs a variable that the server cannot have, could never work: that is an
 * `EXPRESSION_ERROR`.
 */
export function evaluate(expression: string | Function, args: Record<string, unknown>): any {
  const text = typeof expression === 'function' ? source(expression) : expression
  const names = Object.keys(args)
  const call = compiled(text, names)
  try {
    return call(...Object.values(args))
  } catch (cause) {
    if (!(cause instanceof ReferenceError)) throw cause
    const message = `${text} cannot be evaluated: ${cause.message}. The server calls it with ${names.join(', ')}, and it sees no other variable`
    throw new RiverrunError('EXPRESSION_ERROR', message, { cause, retriable: false })
  }
}

function compiled(text: string, names: string[]): Function {
  try {
    return new Function(...names, `"use strict"; const given = (${text}\n); return typeof given === 'function' ? given(${names.join(', ')}) : given`)
  } catch (cause) {
    throw new RiverrunError('EXPRESSION_ERROR', `${text} is no JavaScript: ${(cause as Error).message}`, { cause, retriable: false })
  }
}
