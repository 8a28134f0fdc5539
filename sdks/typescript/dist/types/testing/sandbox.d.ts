/**
 * Evaluates expressions with what the server's sandbox has, and with nothing else: a test that uses
 * Node's globals, a clock or chance would pass here and fail there. It keeps tests honest; it is no
 * wall against code that means harm.
 */
/** What an expression gives for these arguments, by way of JSON. What it throws is thrown. */
export declare function evaluated(text: string, args: Record<string, unknown>): unknown;
/** Why the server would not take an expression in; undefined if it would. */
export declare function syntaxProblem(text: string): string | undefined;
