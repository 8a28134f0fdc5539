/** The text of a function, as an expression. A method is written without `function`; with it, it is one. */
export declare function source(fn: Function): string;
