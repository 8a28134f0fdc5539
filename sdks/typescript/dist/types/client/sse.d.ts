/**
 * Server-sent events from a stream of bytes.
 */
export interface ServerSentEvent {
    id: string | undefined;
    event: string;
    data: string;
}
export interface SseReader {
    /** Called with what the server says to wait before connecting again. */
    onRetry?: (ms: number) => void;
    /** Called with an id that comes without an event: the position of the stream. */
    onId?: (id: string) => void;
    /** Called for every piece that comes, comments too. */
    onBytes?: () => void;
}
export declare function readEvents(body: ReadableStream<Uint8Array>, listener?: SseReader): AsyncGenerator<ServerSentEvent>;
