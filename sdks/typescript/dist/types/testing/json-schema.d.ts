/**
 * JSON Schema, as the server understands it. It is built apart, with the library that it is made of
 * inside: whoever has no schemas never loads it, and nobody has to install anything.
 */
/** One thing that breaks a schema: where, which rule, in words. */
export interface SchemaIssue {
    path: string;
    rule: string;
    message: string;
}
/** Everything that is wrong with a value. */
export type Check = (value: unknown) => SchemaIssue[];
/** Throws where the server would refuse the schema. */
export declare function compile(schema: object | boolean): Check;
