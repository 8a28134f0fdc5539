/**
 * Runs handlers without a server: `execute` for a whole invocation, `runStep` for a step through all
 * of its waits, `runFlow` for the steps of a flow together, `createTestContext` for a context to call
 * a handler with, `fakeClock` for time.
 */

export { fakeClock, FakeClock } from './clock.ts'
export { createTestContext, execute } from './execute.ts'
export type { Executable, Execution, TestContext, TestOptions } from './execute.ts'
export { runFlow } from './flow.ts'
export type { FlowOptions, FlowRun, FlowWarning, SimulatedAwait, SimulatedRetry, VisitRun } from './flow.ts'
export { later } from './given.ts'
export type { GivenEvent, Later, Triggers } from './given.ts'
export type { Effects, LogLine, MadeTrigger, MemoryOptions, RunRetry } from './memory.ts'
export type { StateCheck, StateIssue } from './state-check.ts'
export { runStep } from './step.ts'
export type { StepOptions, StepRun } from './step.ts'
