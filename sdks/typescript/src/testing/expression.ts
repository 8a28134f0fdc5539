import { RiverrunError } from '../errors.ts'
import { source } from '../source.ts'
import { evaluated, syntaxProblem } from './sandbox.ts'

/**
 * What an expression or a function gives, called as the server calls it: from its text, so that it
 * sees its arguments and no variable around it, and none of Node's. What it throws is thrown. But
 * one that the server would not take in, or that needs a variable that the server cannot have, could
 * never work: that is an `EXPRESSION_ERROR`.
 */
export function evaluate(expression: string | Function, args: Record<string, unknown>): any {
  const text = textOf(expression)
  const problem = syntaxProblem(text)
  if (problem !== undefined) throw new RiverrunError('EXPRESSION_ERROR', `${text}: ${problem}`, { retriable: false })
  try {
    return evaluated(text, args)
  } catch (cause) {
    if ((cause as Error | undefined)?.name !== 'ReferenceError') throw cause
    const message = `${text} cannot be evaluated: ${(cause as Error).message}. The server calls it with ${Object.keys(args).join(', ')}, and it sees no other variable`
    throw new RiverrunError('EXPRESSION_ERROR', message, { cause, retriable: false })
  }
}

/** Why the server would not take in a config with this expression; undefined if it would. */
export function expressionProblem(expression: unknown): string | undefined {
  return typeof expression === 'string' || typeof expression === 'function' ? syntaxProblem(textOf(expression)) : undefined
}

function textOf(expression: string | Function): string {
  return typeof expression === 'function' ? source(expression) : expression
}
