/**
 * JSON Schema, as the server understands it. It is a bundle of its own that contains its library: it is
 * loaded only where schemas are used, and has no packages to install.
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
