/**
 * Schemas as users may write them: JSON Schema, or any library that follows Standard Schema
 * (zod, valibot, arktype). The runner turns all of them into JSON Schema.
 */
export interface StandardSchema<T = unknown> {
    readonly '~standard': {
        readonly version: number;
        readonly vendor: string;
        readonly types?: {
            readonly input: unknown;
            readonly output: T;
        } | undefined;
    };
}
export interface JsonSchema {
    readonly [keyword: string]: unknown;
}
export type Schema<T = unknown> = StandardSchema<T> | JsonSchema;
