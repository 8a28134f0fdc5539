/**
 * What a run could undo: visits of steps with a `compensation` whose work is done, in the order in
 * which they ended. Each is undone once.
 */

import type { Failure } from '../wire.ts'
import type { PlannedStep } from './plan.ts'
import type { Visit } from './visit.ts'

/** A visit whose work is done, the step that undoes it, and what that step is given. */
export interface Undo {
  step: string
  visit: { step: string; visit: number }
  input: { step: string; visit: number; result: unknown; error: unknown }
}

interface Finished {
  step: PlannedStep
  visit: number
  result: unknown
}

export class Undoing {
  /** The run has failed, and undoes what it did. */
  hasBegun = false
  readonly #finished: Finished[] = []

  finished({ step, number, undoes }: Visit, result: unknown): void {
    // What undoes is not undone.
    if (step.compensation && !undoes) this.#finished.push({ step, visit: number, result })
  }

  /** What ended last of all that can be undone. */
  last(error: unknown): Undo | undefined {
    const last = this.#finished.pop()
    return last && undo(last, error)
  }

  isCalledBy(kind: string): boolean {
    return !this.hasBegun && this.#finished.some((one) => isUndoneBy(one, kind))
  }

  /** What an event of this kind undoes, the latest first. A run that has failed undoes everything anyway. */
  calledBy(kind: string): Undo[] {
    const called = this.hasBegun ? [] : this.#finished.filter((one) => isUndoneBy(one, kind))
    for (const one of called) this.#finished.splice(this.#finished.indexOf(one), 1)
    return called.reverse().map((one) => undo(one, null))
  }
}

/** A failure as a step that undoes is told of it. */
export function reason({ code = 'HANDLER_ERROR', message, details }: Failure, stepId?: string): Record<string, unknown> {
  return { code, message, ...(stepId !== undefined && { stepId }), ...(details !== undefined && { details }) }
}

function isUndoneBy({ step }: Finished, kind: string): boolean {
  return [step.compensation?.on ?? []].flat().includes(kind)
}

function undo({ step, visit, result }: Finished, error: unknown): Undo {
  const undone = { step: step.name, visit }
  return { step: step.compensation?.step as string, visit: undone, input: { ...undone, result: result ?? null, error: error ?? null } }
}
