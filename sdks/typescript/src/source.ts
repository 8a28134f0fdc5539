/** The text of a function, as an expression that is this function wherever it is evaluated. */
export function source(fn: Function): string {
  const text = expression(fn.toString())
  const helpers = [...new Set(text.match(namer))]
  if (!helpers.length || /^async\b/.test(text)) return text
  return `((${helpers.join(', ')}) => (${text}))(${helpers.map(() => '(named) => named').join(', ')})`
}

/**
 * What `tsx` and esbuild put around functions so that they keep their names: `__name(…, "big")`.
 * It stands at the top of the module, where the text does not come from.
 */
const namer = /(?<![\w$.])__name\d*(?=\()/g

/** A method is written without `function`; with it, it is one. */
function expression(text: string): string {
  const [, isAsync = '', name] = /^(async\s+)?([\w$]+)\s*\(/.exec(text) ?? []
  const isMethod = name !== undefined && name !== 'function' && name !== 'async'
  return isMethod ? `${isAsync}function ${text.slice(isAsync.length)}` : text
}
