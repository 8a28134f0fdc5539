export { Riverrun } from './client.ts'
export type {
  AddOptions,
  CallOptions,
  CleanOptions,
  EventQuery,
  FireOptions,
  JobFilter,
  JobQuery,
  Moment,
  NewEvent,
  RedriveOptions,
  RunQuery,
  StartedRun,
  StreamEvent,
  WaitOptions,
} from './client.ts'
export type { FlowsApi } from './flows.ts'
export { HttpError } from './http.ts'
export type { ClientOptions } from './http.ts'
export type * from './records.ts'
export type { LoggedEvent, Missed, OnKindOptions, SubscribeOptions } from './subscribe.ts'
export type { NewTrigger, SchedulesApi, TriggerChanges, TriggersApi, TriggerType } from './triggers.ts'
export type { WorkersApi } from './workers.ts'
