/**
 * Templates, as the server has them: any JSON whose strings may hold `${path}`. `$${` stands for a
 * literal `${`.
 */
/** What a template gives for what is in view. A `${path}` that stands alone and finds nothing is undefined. */
export declare function resolveTemplate(template: unknown, view: Record<string, unknown>): unknown;
/** Why the server would not take a template; undefined if it would. */
export declare function templateProblem(template: unknown): string | undefined;
