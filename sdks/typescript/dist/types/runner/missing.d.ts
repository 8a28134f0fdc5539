/** Where the import stands whose module is not there: Node names the importing file, not the line. */
import type { Place } from './syntax.ts';
/** Undefined for other errors, and where the line is not found. */
export declare function importPlace(thrown: unknown): Place | undefined;
