import {
  isObject
} from "./5JBL45P5.js";

// src/live/path.ts
function getAt(value, path) {
  let at = value;
  for (const part of path.split(".")) {
    if (Array.isArray(at)) at = at[Number(part)];
    else if (isObject(at) && Object.hasOwn(at, part)) at = at[part];
    else return void 0;
  }
  return at;
}
function setAt(state, path, value) {
  return put(state, path.split("."), value);
}
function deleteAt(state, path) {
  return remove(state, path.split("."));
}
function put(parent, [key, ...rest], value) {
  if (key === void 0) return value;
  if (Array.isArray(parent) && /^\d+$/.test(key) && Number(key) <= parent.length) {
    const items = [...parent];
    items[Number(key)] = put(items[Number(key)], rest, value);
    return items;
  }
  const members = isObject(parent) ? parent : {};
  return define(members, key, put(Object.hasOwn(members, key) ? members[key] : void 0, rest, value));
}
function remove(parent, [key, ...rest]) {
  if (key === void 0 || !isObject(parent) || !Object.hasOwn(parent, key)) return parent;
  if (rest.length) return define(parent, key, remove(parent[key], rest));
  const { [key]: _, ...left } = parent;
  return left;
}
function define(members, key, value) {
  const copy = { ...members };
  Object.defineProperty(copy, key, { value, enumerable: true, writable: true, configurable: true });
  return copy;
}

export {
  getAt,
  setAt,
  deleteAt
};
