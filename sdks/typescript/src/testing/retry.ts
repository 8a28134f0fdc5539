/**
 * Whether a step is tried again, and when: as the server decides it, with nothing left to chance.
 */

import type { Retry, RetryPolicy } from '../config.ts'
import type { Failure } from '../wire.ts'

/** What holds where a config says nothing. */
const defaults = { maxAttempts: 3, backoffMs: 1000, backoffMultiplier: 2, maxBackoffMs: 60_000 }

/** A policy of either form as `Retry`. */
export function canonicalRetry(policy: Retry | RetryPolicy | undefined): Retry {
  const { attempts, backoff, retriableErrors, ...retry } = (policy ?? {}) as Retry & RetryPolicy
  const isFixed = backoff?.type === 'fixed'
  return {
    ...(attempts !== undefined && { maxAttempts: attempts }),
    ...(retriableErrors && { retryOn: retriableErrors }),
    ...(backoff && {
      backoffMs: backoff.delayMs,
      backoffMultiplier: isFixed ? 1 : 2,
      maxBackoffMs: backoff.maxDelayMs ?? (isFixed ? backoff.delayMs : Math.max(defaults.maxBackoffMs, backoff.delayMs)),
    }),
    ...(retry.backoffMs !== undefined && { backoffMultiplier: defaults.backoffMultiplier, maxBackoffMs: defaults.maxBackoffMs }),
    ...retry,
  }
}

export function mostAttempts(policy: Retry | RetryPolicy | undefined): number {
  return Math.max(1, canonicalRetry(policy).maxAttempts ?? defaults.maxAttempts)
}

/** How long to wait after the n-th failure; undefined: it is not tried again. */
export function retryDelayMs(policy: Retry | RetryPolicy | undefined, failure: Failure, failures: number): number | undefined {
  if (failure.retriable === false || failures >= mostAttempts(policy)) return undefined
  const named = [failure.code, failure.name]
  const { retryOn, backoffMs, backoffMultiplier, maxBackoffMs } = { ...defaults, ...canonicalRetry(policy) }
  if (retryOn && !retryOn.some((error) => named.includes(error))) return undefined
  if (failure.retryAfterMs !== undefined) return failure.retryAfterMs
  return Math.min(backoffMs * backoffMultiplier ** (failures - 1), maxBackoffMs)
}
