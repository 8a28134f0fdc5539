/**
 * Templates, as the server has them: any JSON whose strings may hold `${path}`. `$${` stands for a
 * literal `${`.
 */

import { isObject } from '../json.ts'
import { getAt } from '../live/path.ts'

/** The most parts that a path has. */
const mostParts = 64

type Part = { text: string } | { path: string }

/** What a template gives for what is in view. A `${path}` that stands alone and finds nothing is undefined. */
export function resolveTemplate(template: unknown, view: Record<string, unknown>): unknown {
  if (typeof template === 'string') return resolveText(template, view)
  if (Array.isArray(template)) return template.map((item) => resolveTemplate(item, view) ?? null)
  if (!isObject(template)) return template
  const members = Object.entries(template).map(([key, member]): [string, unknown] => [key, resolveTemplate(member, view)])
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

/** Why the server would not take a template; undefined if it would. */
export function templateProblem(template: unknown): string | undefined {
  if (typeof template === 'object' && template !== null) {
    return Object.values(template).map(templateProblem).find((problem) => problem !== undefined)
  }
  const found = typeof template === 'string' ? partsOf(template) : []
  return typeof found === 'string' ? found : undefined
}

function resolveText(text: string, view: Record<string, unknown>): unknown {
  const parts = partsOf(text)
  if (typeof parts === 'string') throw new TypeError(parts)
  const [only] = parts
  if (parts.length === 1 && only && 'path' in only) return getAt(view, only.path)
  return parts.map((part) => ('text' in part ? part.text : asText(getAt(view, part.path)))).join('')
}

function asText(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The parts of a text, or why it has none. */
function partsOf(text: string): Part[] | string {
  const parts: Part[] = []
  let plain = ''
  let rest = text
  for (let at = rest.indexOf('${'); at >= 0; at = rest.indexOf('${')) {
    if (rest[at - 1] === '$') {
      plain += `${rest.slice(0, at - 1)}\${`
      rest = rest.slice(at + 2)
      continue
    }
    const end = rest.indexOf('}', at)
    if (end < 0) return `\${ is never closed in ${JSON.stringify(text)}`
    const inner = rest.slice(at + 2, end)
    if (!isPath(inner.trim())) return `\${${inner}} in ${JSON.stringify(text)} is not a path`
    plain += rest.slice(0, at)
    if (plain) parts.push({ text: plain })
    parts.push({ path: inner.trim() })
    plain = ''
    rest = rest.slice(end + 1)
  }
  plain += rest
  if (plain) parts.push({ text: plain })
  return parts
}

function isPath(text: string): boolean {
  const parts = text.split('.')
  return parts.length <= mostParts && parts.every((part) => part !== '')
}
