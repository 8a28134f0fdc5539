/**
 * Asks the program that started this runner to translate TypeScript, and waits for the answer: Node's
 * loaders for `require`, and newer ones for `import`, cannot wait in any other way.
 */
/** Where translations come from: a socket, or a program that is started for each. */
export interface Place {
    fd?: number;
    command?: string;
    /** Two threads of an older Node use the same socket; they take turns. */
    lock: SharedArrayBuffer;
}
export interface Source {
    file: string;
    text: string;
    format?: 'module' | 'commonjs';
    keepImports: boolean;
}
export interface JavaScript {
    code: string;
    format: 'module' | 'commonjs';
    isMapped: boolean;
}
/** Undefined if this runner has no translator. */
export declare function givenPlace(): Place | undefined;
export declare function translate(place: Place, source: Source): JavaScript;
export declare function failed(message: string): Error;
