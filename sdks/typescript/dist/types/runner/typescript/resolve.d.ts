/**
 * Finds the file that an import of a TypeScript file means, where Node alone would not: names without
 * an ending, names that end in `.js` and mean `.ts`, folders, and what tsconfig.json maps.
 */
/** TypeScript of the project, which packages are not part of. */
export declare function isTypeScript(file: string): boolean;
/** Undefined where Node's own rules say it. */
export declare function resolveFrom(specifier: string, parent: string): string | undefined;
/** The file that a path means. */
export declare function fileOf(path: string): string | undefined;
/** What the ending of a file or its package says; undefined if neither says anything. */
export declare function formatOf(file: string): 'module' | 'commonjs' | undefined;
