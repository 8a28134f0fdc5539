/**
 * Events as they leave the server.
 */

export interface RunEvent<Data = any> {
  /** `<milliseconds>-<n>`: grows along the stream, and is the cursor of every reader. */
  id: string
  /** ISO 8601. */
  ts: string
  type: string
  runId: string
  flowName: string
  stepName?: string
  stepId?: string
  attempt?: number
  correlationId?: string
  causationId?: string
  tenantId?: string
  data?: Data
}

export type RunStatus = 'pending' | 'running' | 'waiting' | 'paused' | 'completed' | 'failed' | 'cancelled'

export type VisitStatus =
  | 'pending'
  | 'running'
  | 'retrying'
  | 'waiting'
  | 'completed'
  | 'failed'
  | 'timeout'
  | 'cancelled'

export const finalTypes: readonly string[] = [
  'flow.completed',
  'flow.failed',
  'flow.cancelled',
  'job.completed',
  'job.failed',
  'job.cancelled',
]

/** Whether a run's event is its last, or a job's, unless somebody lets that begin anew. */
export function isFinal(event: Pick<RunEvent, 'type'>): boolean {
  return finalTypes.includes(event.type)
}
