/**
 * Makes `import 'riverrun'` work in user code whether or not the package is installed there, and
 * gives it the copy that this process runs: one set of classes, one set of marks.
 */

import * as nodeModule from 'node:module'

const names = ['riverrun', 'riverrun/testing']

interface ResolveContext {
  conditions: string[]
}

type Resolve = (
  specifier: string,
  context: ResolveContext,
  next: (specifier: string, context: ResolveContext) => unknown,
) => unknown

interface NewerModule {
  registerHooks?: (hooks: { resolve: Resolve }) => void
}

/** `url` is where this file was loaded from, `sdk` what it exports. */
export function provideSdk(url: string, sdk: () => object): void {
  const { registerHooks } = nodeModule as NewerModule
  if (registerHooks) {
    registerHooks({
      resolve: (specifier, context, next) =>
        names.includes(specifier) ? { url, format: 'module', shortCircuit: true } : next(specifier, context),
    })
    return
  }
  nodeModule.register(asUrl(resolveHook), { data: { url, names } })
  provideToRequire(sdk)
}

/** Before registerHooks, hooks of the loader do not see `require`. */
function provideToRequire(sdk: () => object): void {
  const loader = nodeModule.Module as unknown as { _load: (request: string, ...rest: unknown[]) => unknown }
  const load = loader._load
  loader._load = function (request, ...rest) {
    return names.includes(request) ? sdk() : load.call(this, request, ...rest)
  }
}

/** Runs in the thread that Node keeps for hooks, so it is text of its own. */
const resolveHook = `
let given
export function initialize(data) { given = data }
export function resolve(specifier, context, next) {
  if (given.names.includes(specifier)) return { url: given.url, format: 'module', shortCircuit: true }
  return next(specifier, context)
}`

function asUrl(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`
}
