/** The text of a function, as an expression. A method is written without `function`; with it, it is one. */
export function source(fn: Function): string {
  const text = fn.toString()
  const [, isAsync = '', name] = /^(async\s+)?([\w$]+)\s*\(/.exec(text) ?? []
  const isMethod = name !== undefined && name !== 'function' && name !== 'async'
  return isMethod ? `${isAsync}function ${text.slice(isAsync.length)}` : text
}
