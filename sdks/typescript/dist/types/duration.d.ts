/**
 * Durations as the server reads them: milliseconds, `90s`, `1h 30m`, `2 days`, `PT5M`. Months and
 * years have no fixed length, so they are none.
 */
/** Milliseconds; undefined if the text is no duration. */
export declare function durationMs(duration: number | string): number | undefined;
