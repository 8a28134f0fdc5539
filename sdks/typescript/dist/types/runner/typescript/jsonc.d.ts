/** JSON with comments and trailing commas, as tsconfig.json has it. */
export declare function parseJsonc(text: string): unknown;
