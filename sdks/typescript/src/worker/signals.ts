/**
 * Signals that end a program only when its workers have ended what they run.
 */

/** The listeners of all workers in this process, and how many of them a signal waits for. */
const ours = new WeakSet<Function>()
const draining = new Map<NodeJS.Signals, number>()

/**
 * Drains on a signal. If only workers listen to it, the signal then has its default effect; otherwise
 * the application decides when to end. Returns a function that removes the listener.
 */
export function drainOn(signal: NodeJS.Signals, drain: () => Promise<void>): () => void {
  const onSignal = (): void => {
    const isOurs = process.listeners(signal).every((one) => ours.has(one))
    draining.set(signal, (draining.get(signal) ?? 0) + 1)
    const end = (): void => {
      const left = (draining.get(signal) ?? 1) - 1
      draining.set(signal, left)
      if (isOurs && left === 0) process.kill(process.pid, signal)
    }
    drain().then(end, end)
  }
  ours.add(onSignal)
  // Before the application's own listeners, which may be gone once they were called.
  process.prependOnceListener(signal, onSignal)
  return () => process.removeListener(signal, onSignal)
}
