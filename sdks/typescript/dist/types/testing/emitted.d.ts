/**
 * What the server refuses of events that handlers emit, and of callbacks that they make.
 */
export declare function checkEvent(type: string, data: any): void;
export declare function checkBytes(what: string, data: unknown): void;
/** A secret that is too short to sign with. */
export declare function checkSecret(secret: string | undefined): void;
