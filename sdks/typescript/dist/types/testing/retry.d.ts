/**
 * Whether a step is tried again, and when: as the server decides it, with nothing left to chance.
 */
import type { Retry, RetryPolicy } from '../config.ts';
import type { Failure } from '../wire.ts';
/** A policy of either form as `Retry`. */
export declare function canonicalRetry(policy: Retry | RetryPolicy | undefined): Retry;
export declare function mostAttempts(policy: Retry | RetryPolicy | undefined): number;
/** How long to wait after the n-th failure; undefined: it is not tried again. */
export declare function retryDelayMs(policy: Retry | RetryPolicy | undefined, failure: Failure, failures: number): number | undefined;
