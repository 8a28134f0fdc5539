/**
 * What an expression or a function gives, called as the server calls it: from its text, so that it
 * sees its arguments and no variable around it. One that needs more fails here as it would there.
 */
export declare function evaluate(expression: string | Function, args: Record<string, unknown>): any;
