/**
 * The visits of a run that have not ended, and the branches inside them.
 */

import type { RunEvent, VisitStatus } from '../events.ts'
import type { RunView } from './run.ts'

export interface VisitKey {
  step: string
  visit: number
}

export interface Visit extends VisitKey {
  status: VisitStatus
  /** 0 before the first. */
  attempt: number
  /** The visit in whose branches this one stands. */
  branch?: VisitKey
  branches?: Branches
}

interface Branches {
  steps: string[]
  /** At most this many at once; 0 for all. */
  concurrency: number
  failFast: boolean
  /** What is written in a branch stays there. */
  scoped: boolean
  entered: number
  ended: number
}

/** Which visit an event speaks of. */
export function stepAt({ runId, stepName = '', stepId = '' }: RunEvent): VisitKey {
  const rest = stepId.slice(`${runId}__${stepName}`.length)
  return { step: stepName, visit: Number(/^#(\d+)__/.exec(rest)?.[1] ?? 1) }
}

export function enter(run: RunView, step: string | undefined, branch?: VisitKey): RunView {
  if (step === undefined) return run
  const { error: _, ...summary } = run.steps[step] ?? { visits: 0 }
  const visits = summary.visits + 1
  const visit: Visit = { step, visit: visits, status: 'pending', attempt: 0, ...(branch && { branch }) }
  return {
    ...run,
    steps: { ...run.steps, [step]: { ...summary, status: 'pending', attempt: 0, visits } },
    visits: [...run.visits, visit],
  }
}

export function leave(run: RunView, key: VisitKey): { run: RunView; visit: Visit | undefined } {
  const visit = find(run, key)
  return { run: visit ? { ...run, visits: run.visits.filter((other) => other !== visit) } : run, visit }
}

/** News of a visit, and of its step. */
export function update(run: RunView, key: VisitKey, news: Partial<Visit> & { status: VisitStatus }): RunView {
  const visits = run.visits.map((visit) => (same(visit, key) ? { ...visit, ...news } : visit))
  const summary = run.steps[key.step]
  const steps = summary ? { ...run.steps, [key.step]: { ...summary, status: news.status } } : run.steps
  return { ...run, visits, steps }
}

export function fork(run: RunView, key: VisitKey, data: any): RunView {
  const { branches, concurrency = 0, failFast = false, scoped = false } = data
  const steps = (branches as { step: string }[]).map(({ step }) => step)
  return change(run, key, { steps, concurrency, failFast, scoped, entered: 0, ended: 0 })
}

/** Enters branches that have not begun, as far as their concurrency allows. */
export function enterBranches(run: RunView, key: VisitKey): RunView {
  const branches = find(run, key)?.branches
  if (!branches) return run
  const { steps, concurrency, entered, ended } = branches
  const room = concurrency === 0 ? steps.length : Math.max(0, concurrency - (entered - ended))
  const next = steps.slice(entered, entered + room)
  const begun = change(run, key, { ...branches, entered: entered + next.length })
  return next.reduce((run, step) => enter(run, step, { step: key.step, visit: key.visit }), begun)
}

/** A visit ended with nothing after it: the branch that it stands in is over. */
export function pathEnded(run: RunView, { branch }: Visit, failed: boolean): RunView {
  const branches = branch && find(run, branch)?.branches
  if (!branches) return run
  const ended = change(run, branch, { ...branches, ended: branches.ended + 1 })
  return failed && branches.failFast ? ended : enterBranches(ended, branch)
}

/** Whether what a visit writes belongs to a branch alone. */
export function isInScope(run: RunView, visit: Visit): boolean {
  const holder = visit.branch && find(run, visit.branch)
  return holder !== undefined && (holder.branches?.scoped === true || isInScope(run, holder))
}

function change(run: RunView, key: VisitKey, branches: Branches): RunView {
  return { ...run, visits: run.visits.map((visit) => (same(visit, key) ? { ...visit, branches } : visit)) }
}

function find(run: RunView, key: VisitKey): Visit | undefined {
  return run.visits.find((visit) => same(visit, key))
}

function same(a: VisitKey, b: VisitKey): boolean {
  return a.step === b.step && a.visit === b.visit
}
