/**
 * Time under control: timers and `Date` of this process, until `restore`. Timers fire in their
 * order, and promises settle in between, so a handler that waits for a day is done at once.
 */
export declare class FakeClock {
    #private;
    /** Called when a timer is set. */
    onTimer: () => void;
    constructor(now?: Date | number | string);
    get now(): number;
    /** Takes over `setTimeout`, `setInterval`, `Date`, `performance.now` and their modules. */
    install(): this;
    restore(): void;
    /** It is this late at once, and never earlier than it was. Timers that are due fire when somebody waits. */
    jump(toMs: number): void;
    /** Lets `ms` pass: fires every timer that comes due, in order, and lets promises settle. */
    advance(ms: number): Promise<void>;
    /** Lets time pass until a promise settles: from timer to timer, as far as there are any. */
    run<T>(promise: Promise<T>): Promise<T>;
    /** When the next timer is due; undefined if there is none. */
    nextTimerMs(): number | undefined;
    fireNext(): void;
}
/** A clock that is in charge from now on. */
export declare function fakeClock(now?: Date | number | string): FakeClock;
