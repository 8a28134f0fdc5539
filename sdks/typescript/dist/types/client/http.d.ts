/**
 * Requests to the server, and its errors as errors.
 */
import { RiverrunError, type ErrorOptions } from '../errors.ts';
export interface ClientOptions {
    /** Where the server listens: `http://127.0.0.1:4600` where absent. */
    url?: string | URL;
    /** Sent as a bearer token. */
    token?: string;
    /** More headers for every request. */
    headers?: Record<string, string>;
    /** In place of the global one, which is used where there is no `node:http`, and for live streams. */
    fetch?: typeof fetch;
    /** A request that takes longer is given up; 30,000 where absent. Live streams have no end. */
    timeoutMs?: number;
}
/** An error that the server answered with. */
export declare class HttpError extends RiverrunError {
    name: string;
    readonly status: number;
    constructor(status: number, code: string, message: string, options?: ErrorOptions);
}
/** The parts of a request that an operation describes. */
export interface TDataShape {
    body?: unknown;
    headers?: unknown;
    path?: unknown;
    query?: unknown;
    url: string;
}
/** How a request is sent, beside what its operation describes. */
export interface SendOptions {
    headers?: object;
    signal?: AbortSignal | undefined;
    /** In place of the client's. */
    timeoutMs?: number | undefined;
}
/** What a generated function takes. The parameters after the first are the generator's. */
export type Options<Data extends TDataShape = TDataShape, _Throws extends boolean = boolean, _Response = unknown> = Omit<Data, 'url'> & SendOptions;
type Request = TDataShape & SendOptions;
/** What an operation answers with where it succeeds. */
type Success<Responses> = Responses[keyof Responses];
/** Where the generated functions send their requests. A failure rejects with `HttpError` or `RiverrunError`. */
export interface Client {
    get: Send;
    post: Send;
    put: Send;
    patch: Send;
    delete: Send;
    /** Answers that are read as they come: no time limit. */
    sse: {
        get: Open;
        post: Open;
    };
}
type Send = <Responses = unknown, _Errors = unknown, _Throws extends boolean = false>(request: Request) => Promise<Success<Responses>>;
type Open = <_Responses = unknown, _Errors = unknown, _Throws extends boolean = false>(request: Request) => Promise<Response>;
/** A client for the functions of `riverrun/api`. */
export declare function createClient(options?: ClientOptions): Client;
/** Options as an operation describes them. Dates become text when they are sent, and so do lists in a query. */
export declare function given<Wire>(options: {
    [Name in keyof NonNullable<NoInfer<Wire>>]?: unknown;
} | undefined): Wire;
/** A body that is JSON already. */
export declare class JsonText {
    readonly text: string;
    constructor(text: string);
}
export declare class Http implements Client {
    #private;
    readonly get: Send;
    readonly post: Send;
    readonly put: Send;
    readonly patch: Send;
    readonly delete: Send;
    readonly sse: {
        get: Open;
        post: Open;
    };
    constructor({ url, token, headers, timeoutMs, ...rest }: ClientOptions);
}
export {};
