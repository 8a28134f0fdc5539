/**
 * Makes `import 'riverrun'` work in user code whether or not the package is installed there, and
 * gives it the copy that this process runs: one set of classes, one set of marks.
 */
/** `url` is where this file was loaded from, `sdk` what it exports. */
export declare function provideSdk(url: string, sdk: () => object): void;
