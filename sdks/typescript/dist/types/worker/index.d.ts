/**
 * A worker inside of an application: it connects to a server and runs jobs, calls and steps for it.
 */
export { startWorker, Worker } from './worker.ts';
export type { Welcome, WorkerOptions } from './worker.ts';
export type { Offered } from './processes.ts';
