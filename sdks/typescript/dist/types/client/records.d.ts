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
export interface StateAt<State = Record<string, unknown>> {
    runId: string;
    /** The time of the last event that counts; absent before the first. */
    at?: string;
    /** How many events led to it. */
    events: number;
    status: RunStatus;
    state: State;
}
/** An attempt of a step that has ended. */
export interface Attempt {
    stepId: string;
    handlerType?: string;
    visit: number;
    attempt: number;
    outcome: 'success' | 'failure' | 'wait' | 'cancelled';
    startedAt: string;
    completedAt: string;
    durationMs: number;
    error?: RunError;
}
/** Why a run or a job does not continue. */
export interface Why {
    runId: string;
    kind: 'flow' | 'job' | 'call';
    flow?: string;
    /** The run's status, or the job's state. */
    status: string;
    /** Whether something is under way or about to begin. */
    moving: boolean;
    /** The first reason in a line, and how many others there are. */
    summary: string;
    /** One for each active visit, the most telling first; those of the whole run before them. */
    reasons: WhyReason[];
    /** Active visits that were not examined, because there are too many. */
    more?: number;
    /** The code of the failure with which the run ends once what is active has ended. */
    failing?: string;
    /** The run has failed and undoes what it did. */
    compensating?: boolean;
    /** When the run fails with TIMEOUT unless it has ended. */
    deadlineAt?: string;
}
export type WhyKind = 'ended' | 'damaged' | 'paused' | 'parked' | 'not-before' | 'await-time' | 'await-event' | 'await-trigger' | 'backoff' | 'queue-paused' | 'no-worker' | 'process-broken' | 'no-room' | 'concurrency' | 'rate-limit' | 'gathering' | 'delayed' | 'queued' | 'lease-expired' | 'worker-away' | 'running' | 'child' | 'branches' | 'ready' | (string & {});
/** Which members there are depends on the kind: docs/guides/diagnose.md. */
export interface WhyReason {
    kind: WhyKind;
    summary: string;
    step?: string;
    visit?: number;
    attempt?: number;
    status?: string;
    since?: string;
    until?: string;
    job?: {
        id: string;
        queue: string;
        state: string;
        ahead?: number;
        queuePaused?: boolean;
        owner?: string;
        leaseUntil?: string;
        worker?: {
            id: number;
            name: string;
        };
        cancelling?: boolean;
    };
    awaitId?: string;
    eventKind?: string;
    triggerType?: string;
    url?: string;
    error?: RunError;
    childId?: string;
    child?: Why;
    [member: string]: unknown;
}
/** A trigger that a step waited for was opened. */
export interface Opened {
    success: boolean;
    triggerId: string;
    runId: string;
}
export type JobState = 'waiting' | 'delayed' | 'active' | 'parked' | 'completed' | 'failed' | 'cancelled' | (string & {});
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
    /** It was asked to stop, and has not yet. */
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
    counts: Record<'waiting' | 'delayed' | 'active' | 'parked' | 'completed' | 'failed' | 'cancelled', number>;
    /** How long the job that has waited longest has waited. */
    oldestMs?: number;
    /** Rates and latencies that this server has seen since it started. */
    stats?: Record<string, unknown>;
    [member: string]: unknown;
}
export interface Redriven {
    /** How many wait again. */
    redriven: number;
    /** There are more, and they follow in the background. */
    goesOn: boolean;
}
/** The job that drives a run; its id is the run's. */
export interface RunJob {
    id: string;
    runId: string;
    flow: string;
    version: string;
    status: RunStatus;
    /** It has been due for longer than a lease, and no server has claimed it. */
    stalled: boolean;
    dueAt?: string;
    createdAt: string;
    updatedAt: string;
    endedAt?: string;
    tenantId?: string;
}
export interface FlowSummary {
    id: string;
    version: string;
    createdAt: string;
    name?: string;
    description?: string;
    tags?: string[];
    /** How many steps it has. */
    steps: number;
}
export interface FlowDetail {
    id: string;
    version: string;
    createdAt: string;
    /** As it was registered. */
    definition: Record<string, unknown>;
}
export interface FlowIssue {
    /** A dot path into the definition. */
    path: string;
    rule: string;
    message: string;
    severity: 'error' | 'warning';
}
export interface RegisteredFlow {
    id: string;
    version: string;
    /** False where the same definition was there already. */
    created: boolean;
    /** Warnings. */
    issues: FlowIssue[];
}
/** Members that this version does not know are there too: docs/guides/diagrams.md. */
export interface FlowDiagram {
    flow: string;
    name?: string;
    nodes: {
        id: string;
        type: string;
        handler: string;
        [member: string]: unknown;
    }[];
    edges: {
        from: string;
        to: string;
        label: string;
        type: string;
        [member: string]: unknown;
    }[];
    outside?: {
        to: string;
        label: string;
        type: string;
        [member: string]: unknown;
    }[];
}
export interface TriggerStats {
    fired: number;
    failed: number;
    /** Due times that passed without a run. */
    missed: number;
    lastFiredAt?: string;
    lastRunId?: string;
    lastFailedAt?: string;
    lastError?: RunError;
    nextDueAt?: string;
}
export interface TriggerRecord {
    id: string;
    type: string;
    /** Counts its changes. */
    version: number;
    flow: string;
    flowVersion?: string;
    enabled: boolean;
    /** Why it cannot be used. It starts nothing meanwhile. */
    broken?: {
        code: string;
        message: string;
    };
    description?: string;
    config: Record<string, unknown>;
    input?: unknown;
    inputMap?: string;
    contextKey?: string;
    idempotencyKey?: string;
    tenantId?: string;
    tags?: string[];
    metadata?: Record<string, unknown>;
    /** `api`, or `project` where a file keeps it. */
    origin: string;
    createdAt: string;
    updatedAt: string;
    /** Where requests go that fire it. */
    path?: string;
    nextDueAt?: string;
    upcoming?: string[];
    stats: TriggerStats;
}
export interface Backfilled {
    /** The outcome of each due time; one whose run could not be started has an `error` and no `runId`. */
    items: {
        dueAt: string;
        runId?: string;
        created: boolean;
        error?: {
            code: string;
            message: string;
        };
    }[];
    /** How many runs were started. */
    created: number;
    /** How many could not be. */
    failed: number;
    /** What the first of those failed with. */
    firstError?: {
        code: string;
        message: string;
    };
    /** The next due time to continue from; absent if none is left. */
    nextFrom?: string;
}
export interface ProcessRecord {
    id: string;
    runMode?: 'queue' | 'flow' | 'call';
    queue?: string;
    language?: string;
    file?: string;
    config?: Record<string, unknown>;
    /** Why its file does not load. */
    error?: RunError;
}
export interface WorkerRecord {
    /** Distinguishes workers of the same name. */
    id: number;
    name: string;
    tags: string[];
    /** The language and version of its SDK. */
    sdk: string;
    processes: string[];
    /** Those of them that the server has itself, and runs itself. */
    shadowed?: string[];
    /** How many invocations it takes at once. */
    window: number;
    running: number;
    since: string;
    state: 'connected' | 'draining' | 'away';
}
export interface Version {
    name: string;
    version: string;
    /** Facts about the store, for people. */
    store: unknown;
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
