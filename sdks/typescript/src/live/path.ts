/**
 * Dot paths into JSON, with the server's rules. Nothing is changed in place.
 */

import { isObject } from '../json.ts'

export function getAt(value: unknown, path: string): unknown {
  let at = value
  for (const part of path.split('.')) {
    if (Array.isArray(at)) at = at[Number(part)]
    else if (isObject(at) && Object.hasOwn(at, part)) at = at[part]
    else return undefined
  }
  return at
}

/** Missing parents become objects; a parent that is neither object nor a fitting list gives way to one. */
export function setAt(state: Record<string, unknown>, path: string, value: unknown): Record<string, unknown> {
  return put(state, path.split('.'), value) as Record<string, unknown>
}

/** Nothing there is fine. */
export function deleteAt(state: Record<string, unknown>, path: string): Record<string, unknown> {
  return remove(state, path.split('.')) as Record<string, unknown>
}

function put(parent: unknown, [key, ...rest]: string[], value: unknown): unknown {
  if (key === undefined) return value
  if (Array.isArray(parent) && /^\d+$/.test(key) && Number(key) <= parent.length) {
    const items = [...parent]
    items[Number(key)] = put(items[Number(key)], rest, value)
    return items
  }
  const members = isObject(parent) ? parent : {}
  return define(members, key, put(Object.hasOwn(members, key) ? members[key] : undefined, rest, value))
}

function remove(parent: unknown, [key, ...rest]: string[]): unknown {
  if (key === undefined || !isObject(parent) || !Object.hasOwn(parent, key)) return parent
  if (rest.length) return define(parent, key, remove(parent[key], rest))
  const { [key]: _, ...left } = parent
  return left
}

/** A copy with one more member, whatever it is called. */
function define(members: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  const copy = { ...members }
  Object.defineProperty(copy, key, { value, enumerable: true, writable: true, configurable: true })
  return copy
}
