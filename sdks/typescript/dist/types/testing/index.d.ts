/**
 * Runs handlers without a server: `execute` for a whole invocation, `createTestContext` for a
 * context to call one with, `fakeClock` for time.
 */
export { fakeClock, FakeClock } from './clock.ts';
export { createTestContext, execute } from './execute.ts';
export type { Executable, Execution, TestContext, TestOptions } from './execute.ts';
export type { Effects, LogLine, MemoryOptions } from './memory.ts';
export type { StateCheck, StateIssue } from './state-check.ts';
