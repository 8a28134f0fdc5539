export { Riverrun } from './client.ts';
export type { AddOptions, CallOptions, CleanOptions, NewEvent, StartedRun } from './client.ts';
export { HttpError } from './http.ts';
export type { ClientOptions } from './http.ts';
export type * from './records.ts';
export type { LoggedEvent, Missed, OnKindOptions, SubscribeOptions } from './subscribe.ts';
