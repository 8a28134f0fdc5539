/**
 * The engine that plays flows in tests: the `riverrun` binary, started once per test process as
 * `riverrun test-kit`, with simulated time and a store in memory. It speaks the worker protocol over its
 * stdin and stdout, so the handlers of a test run in the process of the test. Lines with a member
 * `kit` steer it; crates/riverrun/src/test_kit says which there are.
 */
import { RiverrunError } from '../errors.ts';
/** What the engine says, and that it is gone. */
export interface Audience {
    hear(message: any): void;
    gone(error: RiverrunError): void;
}
/** The engine of this test process. */
export declare function theEngine(): Engine;
export declare class Engine {
    #private;
    isGone: boolean;
    constructor(path: string);
    /** Listens until `release`; meanwhile the test process does not end by itself. */
    listen(audience: Audience): void;
    release(): void;
    /** Ends the engine; the next flow is played on a new one. */
    stop(): void;
    send(text: string): void;
}
