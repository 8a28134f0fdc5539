/**
 * The visits of a run that have not ended, and the branches inside them.
 */
import type { RunEvent, VisitStatus } from '../events.ts';
import type { RunView } from './run.ts';
export interface VisitKey {
    step: string;
    visit: number;
}
export interface Visit extends VisitKey {
    status: VisitStatus;
    /** 0 before the first. */
    attempt: number;
    /** The visit in whose branches this one stands. */
    branch?: VisitKey;
    branches?: Branches;
}
interface Branches {
    steps: string[];
    /** At most this many at once; 0 for all. */
    concurrency: number;
    failFast: boolean;
    /** What is written in a branch stays there. */
    scoped: boolean;
    entered: number;
    ended: number;
}
/** Which visit an event speaks of. */
export declare function stepAt({ runId, stepName, stepId }: RunEvent): VisitKey;
export declare function enter(run: RunView, step: string | undefined, branch?: VisitKey): RunView;
export declare function leave(run: RunView, key: VisitKey): {
    run: RunView;
    visit: Visit | undefined;
};
/** News of a visit, and of its step. */
export declare function update(run: RunView, key: VisitKey, news: Partial<Visit> & {
    status: VisitStatus;
}): RunView;
export declare function fork(run: RunView, key: VisitKey, data: any): RunView;
/** Enters branches that have not begun, as far as their concurrency allows. */
export declare function enterBranches(run: RunView, key: VisitKey): RunView;
/** A visit ended with nothing after it: the branch that it stands in is over. */
export declare function pathEnded(run: RunView, { branch }: Visit, failed: boolean): RunView;
/** Whether what a visit writes belongs to a branch alone. */
export declare function isInScope(run: RunView, visit: Visit): boolean;
export {};
