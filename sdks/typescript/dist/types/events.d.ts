/**
 * Events as they leave the server.
 */
export interface RunEvent<Data = any> {
    /** `<milliseconds>-<n>`: grows along the stream, and is the cursor of every reader. */
    id: string;
    /** ISO 8601. */
    ts: string;
    type: string;
    runId: string;
    flowName: string;
    stepName?: string;
    stepId?: string;
    attempt?: number;
    correlationId?: string;
    causationId?: string;
    tenantId?: string;
    data?: Data;
}
export type RunStatus = 'pending' | 'running' | 'waiting' | 'paused' | 'completed' | 'failed' | 'cancelled';
export type VisitStatus = 'pending' | 'running' | 'retrying' | 'waiting' | 'completed' | 'failed' | 'timeout' | 'cancelled';
export declare const finalTypes: readonly string[];
/** Whether a run's event is its last, or a job's, unless somebody lets that begin anew. */
export declare function isFinal(event: Pick<RunEvent, 'type'>): boolean;
