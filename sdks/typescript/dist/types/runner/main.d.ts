/**
 * The program that the server starts as `node runner.mjs`: messages come on standard input and
 * leave on fd 3. It is also the module that user code gets for `import 'riverrun'`.
 */
export * from '../index.ts';
export * from '../testing/index.ts';
