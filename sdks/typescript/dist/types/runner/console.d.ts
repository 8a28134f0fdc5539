/**
 * Gives each line that a handler prints with `console` to the invocation that printed it. What is
 * printed outside of one, or straight to a stream, goes where it always went: the server reads
 * standard output too, but cannot know whose a line is.
 */
import type { LogLevel } from '../context.ts';
/** `log` says whether it has taken the line. */
export declare function captureConsole(log: (level: LogLevel, message: string) => boolean): void;
