/**
 * Patterns and templates of the conversations. README.md describes both.
 */

const types = {
  any: () => true,
  array: Array.isArray,
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isInteger,
  null: (value) => value === null,
  number: (value) => typeof value === 'number',
  object: isObject,
  string: (value) => typeof value === 'string',
}

/** Says why `value` does not match `pattern`, or undefined if it does. Bindings are added to `bound`. */
export function mismatch(pattern, value, bound, path = '') {
  if (!isObject(pattern)) return Array.isArray(pattern) ? list(pattern, value, bound, path) : same(pattern, value, path)
  if ('$is' in pattern) return types[pattern.$is](value) ? undefined : wrong(path, `a value of type ${pattern.$is}`, value)
  if ('$absent' in pattern) return value == null ? undefined : wrong(path, 'nothing', value)
  if ('$matches' in pattern) {
    const matches = typeof value === 'string' && new RegExp(pattern.$matches, 's').test(value)
    return matches ? undefined : wrong(path, `text that matches /${pattern.$matches}/`, value)
  }
  if ('$bind' in pattern) {
    if (value === undefined) return wrong(path, 'a value', value)
    bound.set(pattern.$bind, value)
    return 'to' in pattern ? mismatch(pattern.to, value, bound, path) : undefined
  }
  if ('$ref' in pattern) return same(reference(pattern.$ref, bound), value, path)
  if ('$exactly' in pattern) {
    return canonical(pattern.$exactly) === canonical(value) ? undefined : wrong(path, JSON.stringify(pattern.$exactly), value)
  }
  if ('$oneOf' in pattern) {
    const reasons = pattern.$oneOf.map((one) => mismatch(one, value, bound, path))
    return reasons.includes(undefined) ? undefined : reasons.join(', and ')
  }
  if (!isObject(value)) return wrong(path, 'an object', value)
  for (const [key, member] of Object.entries(pattern)) {
    const reason = mismatch(member, value[key], bound, path ? `${path}.${key}` : key)
    if (reason) return reason
  }
}

/** Fills in what a template leaves open. */
export function fill(template, bound, fixture) {
  if (Array.isArray(template)) return template.map((item) => fill(item, bound, fixture))
  if (!isObject(template)) return template
  if ('$ref' in template) return reference(template.$ref, bound)
  if ('$file' in template) return fixture(template.$file)
  if ('$repeat' in template) return template.$repeat[0].repeat(template.$repeat[1])
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, fill(value, bound, fixture)]))
}

function list(pattern, value, bound, path) {
  if (!Array.isArray(value)) return wrong(path, 'a list', value)
  if (value.length !== pattern.length) return wrong(path, `a list of ${pattern.length}`, value)
  for (const [index, item] of pattern.entries()) {
    const reason = mismatch(item, value[index], bound, `${path}[${index}]`)
    if (reason) return reason
  }
}

function same(expected, value, path) {
  return canonical(expected) === canonical(value) ? undefined : wrong(path, JSON.stringify(expected), value)
}

function wrong(path, expected, value) {
  const shown = JSON.stringify(value) ?? 'nothing'
  return `${path || 'the message'} should be ${expected}, is ${shown.length > 300 ? `${shown.slice(0, 300)}…` : shown}`
}

function reference(name, bound) {
  if (!bound.has(name)) throw new Error(`the conversation refers to ${name} before it is bound`)
  return bound.get(name)
}

function canonical(value) {
  return JSON.stringify(value, (_, member) =>
    isObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member)
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
