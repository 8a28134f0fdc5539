/**
 * What an expression or a function gives, called as the server calls it: from its text, so that it
 * sees its arguments and no variable around it, and none of Node's. What it throws is thrown. But
 * one that the server would not take in, or that needs a variable that the server cannot have, could
 * never work: that is an `EXPRESSION_ERROR`.
 */
export declare function evaluate(expression: string | Function, args: Record<string, unknown>): any;
/** Why the server would not take in a config with this expression; undefined if it would. */
export declare function expressionProblem(expression: unknown): string | undefined;
