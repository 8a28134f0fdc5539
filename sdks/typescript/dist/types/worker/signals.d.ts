/**
 * Signals that end a program only when its workers have ended what they run.
 */
/**
 * Drains on a signal. Where nobody but workers listens to it, it then does what it would have done
 * without them; else the application decides when to end. Gives what is to be called to listen no more.
 */
export declare function drainOn(signal: NodeJS.Signals, drain: () => Promise<void>): () => void;
