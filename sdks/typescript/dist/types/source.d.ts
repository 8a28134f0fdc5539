/** The text of a function, as an expression that is this function wherever it is evaluated. */
export declare function source(fn: Function): string;
