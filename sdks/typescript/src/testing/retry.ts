/**
 * Whether a step is tried again, and when: as the server decides it, with nothing left to chance.
 */

import type { Backoff, RetryPolicy } from '../config.ts'
import type { Failure } from '../wire.ts'

/** What holds where a config says nothing. */
const attempts = 3
const backoff: Backoff = { type: 'exponential', delayMs: 1000 }
const longestMs = 60_000

export function mostAttempts(policy: RetryPolicy | undefined): number {
  return Math.max(1, policy?.attempts ?? attempts)
}

/** How long to wait after the n-th failure; undefined: it is not tried again. */
export function retryDelayMs(policy: RetryPolicy | undefined, failure: Failure, failures: number): number | undefined {
  if (failure.retriable === false || failures >= mostAttempts(policy)) return undefined
  const named = [failure.code, failure.name]
  if (policy?.retriableErrors && !policy.retriableErrors.some((error) => named.includes(error))) return undefined
  if (failure.retryAfterMs !== undefined) return failure.retryAfterMs
  const { type, delayMs, maxDelayMs = Math.max(longestMs, delayMs) }: Backoff = policy?.backoff ?? backoff
  return Math.min(type === 'fixed' ? delayMs : delayMs * 2 ** (failures - 1), maxDelayMs)
}
