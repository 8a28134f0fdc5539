/**
 * Loading TypeScript: by Node itself where it can, else with `tsx` or `esbuild` from the user's
 * project. This package brings no compiler of its own.
 */
export declare function importTypeScript(file: string): Promise<unknown>;
