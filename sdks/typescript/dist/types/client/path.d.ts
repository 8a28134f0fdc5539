/** A text as one part of a path. */
export declare function part(text: string): string;
