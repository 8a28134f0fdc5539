/**
 * Makes Node load TypeScript, whatever its version: by hooks in this thread where Node has them (22.15
 * and newer), else by hooks in the thread that Node keeps for those of `import`, and by changes of
 * `require`. This file is the module of that thread as well.
 */
import { type Place } from './translator.ts';
interface Resolved {
    url: string;
    format?: string | null;
    shortCircuit?: boolean;
    importAttributes?: Record<string, string>;
}
interface Loaded {
    format: string;
    source?: string | null;
    shortCircuit?: boolean;
}
type ResolveContext = {
    parentURL?: string;
    importAttributes?: Record<string, string>;
};
type Next<Context, Result> = (name: string, context: Context) => Result;
/** Whether TypeScript can be loaded; false if this runner has no translator. */
export declare function loadsTypeScript(): boolean;
/** `url` is where this module is. */
export declare function provideTypeScript(url: string): void;
/** Called before a file of TypeScript is imported. */
export declare function beforeTypeScript(): void;
export declare function initialize(given: Place): void;
export declare function resolve(specifier: string, context: ResolveContext, next: Next<ResolveContext, Promise<Resolved>>): Promise<Resolved>;
export declare function load(url: string, context: object, next: Next<object, Promise<Loaded>>): Promise<Loaded>;
export {};
