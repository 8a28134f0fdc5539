/**
 * The engine that executes flows in tests: the `riverrun` binary, started once per test process as
 * `riverrun test-kit`, with simulated time and a store in memory. It speaks the worker protocol over its
 * stdin and stdout, so the handlers of a test run in the process of the test. Lines with a member
 * `kit` steer it; crates/riverrun/src/test_kit says which there are.
 */
import { RiverrunError } from '../errors.ts';
/** Receives the messages of the engine, and its end. */
export interface Receiver {
    receive(message: any): void;
    gone(error: RiverrunError): void;
}
/** The engine of this test process. */
export declare function theEngine(): Engine;
export declare class Engine {
    #private;
    isGone: boolean;
    constructor(path: string);
    /** Listens until `release`; meanwhile the test process does not end by itself. */
    listen(receiver: Receiver): void;
    release(): void;
    /** Ends the engine; the next flow gets a new one. */
    stop(): void;
    send(text: string): void;
}
