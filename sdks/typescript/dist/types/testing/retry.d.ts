/**
 * Whether a step is tried again, and when: as the server decides it, with nothing left to chance.
 */
import type { RetryPolicy } from '../config.ts';
import type { Failure } from '../wire.ts';
export declare function mostAttempts(policy: RetryPolicy | undefined): number;
/** How long to wait after the n-th failure; undefined: it is not tried again. */
export declare function retryDelayMs(policy: RetryPolicy | undefined, failure: Failure, failures: number): number | undefined;
