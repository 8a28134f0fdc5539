/**
 * Words that mean nothing, in a config or in what a test asks for: a slip that is passed over in
 * silence makes a test of something else. The server refuses the same in a config.
 */
/** Refuses a config that has a setting which the server does not know. */
export declare function checkSettings(config: object, name: string): void;
/** Refuses options of a function that it does not have. */
export declare function checkOptions(what: string, options: object, known: readonly string[]): void;
/** What somebody meant who wrote this, as the end of a sentence. */
export declare function meant(word: string, known: readonly string[]): string;
