/**
 * Signals that end a program only when its workers have ended what they run.
 */
/**
 * Drains on a signal. If only workers listen to it, the signal then has its default effect; otherwise
 * the application decides when to end. Returns a function that removes the listener.
 */
export declare function drainOn(signal: NodeJS.Signals, drain: () => Promise<void>): () => void;
