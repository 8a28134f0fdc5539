/**
 * Dot paths into JSON, with the server's rules. Nothing is changed in place.
 */
export declare function getAt(value: unknown, path: string): unknown;
/** Missing parents become objects; a parent that is neither object nor a fitting list gives way to one. */
export declare function setAt(state: Record<string, unknown>, path: string, value: unknown): Record<string, unknown>;
/** Nothing there is fine. */
export declare function deleteAt(state: Record<string, unknown>, path: string): Record<string, unknown>;
