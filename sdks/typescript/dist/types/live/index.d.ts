export { emptyRun, followRun, reduceEvents, reduceRun } from './run.ts';
export type { RunError, RunView, StepView } from './run.ts';
export { reduceState } from './state.ts';
export { emptyTrigger, reduceTrigger } from './trigger.ts';
export type { TriggerView } from './trigger.ts';
export type { Visit } from './visits.ts';
