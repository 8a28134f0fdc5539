/**
 * What the server answers with.
 */
import type { RunStatus } from '../events.ts';
import type { RunError } from '../live/run.ts';
export interface Page<Item> {
    items: Item[];
    /** Give it as `cursor` to read on; absent on the last page. */
    nextCursor?: string;
}
export interface PageQuery {
    /** 1 to 1,000; 50 where absent. */
    limit?: number;
    cursor?: string;
}
export interface RunRecord {
    runId: string;
    kind: string;
    flow: string;
    version: string;
    status: RunStatus;
    createdAt: string;
    updatedAt: string;
    endedAt?: string;
    durationMs?: number;
    wakeAt?: string;
    error?: RunError;
    idempotencyKey?: string;
    tenantId?: string;
    tags?: string[];
    metadata?: Record<string, unknown>;
    parent?: {
        runId: string;
        step: string;
        visit: number;
    };
    forkedFrom?: {
        runId: string;
        eventId: string;
    };
    /** The story that it belongs to, if that is not its own. */
    correlationId?: string;
    /** How many events its stream has. */
    events: number;
}
export interface Run<State = Record<string, unknown>, Result = unknown> extends RunRecord {
    stepCount: number;
    steps: Record<string, {
        status: string;
        visits: number;
        attempt: number;
        startedAt?: string;
        completedAt?: string;
        error?: RunError;
    }>;
    cancellation?: {
        source: string;
        reason?: string;
    };
    input: unknown;
    result?: Result;
    state: State;
}
/** Why a run stands where it stands. Members that this version does not know are there too. */
export interface Why {
    [member: string]: unknown;
}
export type JobState = 'waiting' | 'delayed' | 'active' | 'completed' | 'failed' | 'cancelled' | (string & {});
/** A job as the server shows it. Members that this version does not know are there too. */
export interface JobRecord<Data = unknown, Result = unknown> {
    id: string;
    queue: string;
    name: string;
    state: JobState;
    data?: Data;
    result?: Result;
    error?: RunError;
    progress?: {
        pct?: number;
        detail?: unknown;
    };
    attempt?: number;
    maxAttempts?: number;
    priority?: number;
    key?: string;
    checkpoint?: unknown;
    /** It was told to stop, and has not yet. */
    cancelling?: boolean;
    /** Who runs it, and until when that counts. */
    owner?: string;
    leaseUntil?: string;
    runAt?: string;
    createdAt: string;
    startedAt?: string;
    endedAt?: string;
    tenantId?: string;
    tags?: string[];
    metadata?: Record<string, unknown>;
    [member: string]: unknown;
}
export interface QueueRecord {
    name: string;
    paused: boolean;
    /** The process that takes its jobs. */
    process?: string;
    /** How many jobs are in each state. */
    counts: Record<'waiting' | 'delayed' | 'active' | 'completed' | 'failed' | 'cancelled', number>;
    /** How long the job that has waited longest has waited. */
    oldestMs?: number;
    [member: string]: unknown;
}
/** What a call says on its way; `result`, `error` and `cancelled` are last. */
export type Frame = {
    type: 'log';
    data: {
        level: string;
        message: string;
        meta?: unknown;
    };
} | {
    type: 'progress';
    data: {
        pct?: number;
        detail?: unknown;
    };
} | {
    type: 'partial';
    data: {
        path?: string;
        value: unknown;
    };
} | {
    type: 'result';
    data: {
        value: unknown;
    };
} | {
    type: 'error';
    data: RunError & {
        name?: string;
        retriable?: boolean;
    };
} | {
    type: 'cancelled';
    data: {
        reason?: string;
    };
} | {
    type: 'heartbeat';
    data: {
        ts?: string;
    };
};
