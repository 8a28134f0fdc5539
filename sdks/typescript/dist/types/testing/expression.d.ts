/**
 * What an expression or a function gives, called as the server calls it: from its text, so that it
 * sees its arguments and no variable around it. What it throws is thrown. But one that is no
 * JavaScript, or needs a variable that the server cannot have, could never work: that is an
 * `EXPRESSION_ERROR`.
 */
export declare function evaluate(expression: string | Function, args: Record<string, unknown>): any;
