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
export interface RequestOptions {
    query?: Record<string, unknown>;
    headers?: Record<string, string>;
    signal?: AbortSignal | undefined;
    timeoutMs?: number | undefined;
}
interface StreamOptions extends Omit<RequestOptions, 'timeoutMs'> {
    body?: unknown;
}
export declare class Http {
    #private;
    constructor({ url, token, headers, timeoutMs, ...rest }: ClientOptions);
    get<T>(path: string, options?: RequestOptions): Promise<T>;
    post<T>(path: string, body?: unknown, options?: RequestOptions): Promise<T>;
    /** A body that is JSON already. */
    postText<T>(path: string, json: string, options?: RequestOptions): Promise<T>;
    patch<T>(path: string, body: unknown): Promise<T>;
    delete(path: string): Promise<void>;
    /** An answer whose body is read as it comes: no time limit. */
    open(method: string, path: string, { query, body, headers, signal }?: StreamOptions): Promise<Response>;
}
export {};
