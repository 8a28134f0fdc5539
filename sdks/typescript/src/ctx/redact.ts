/**
 * Makes the meta of a log line JSON, without what must not leave the process.
 */

const secrets = ['password', 'passwd', 'passphrase', 'secret', 'token', 'authorization', 'apikey', 'privatekey', 'cookie', 'credentials']

const deepest = 8

export type Redact = (meta: unknown) => unknown

/**
 * Values under keys that end in one of the words are replaced: `token` takes `accessToken` and
 * `access_token`, but leaves `tokens` and `tokenCount`, which count rather than open anything.
 */
export function redactor(more: readonly string[] = []): Redact {
  const words = [...secrets, ...more].map(plain)
  const known = new Map<string, boolean>()
  const isSecret = (key: string): boolean => {
    let answer = known.get(key)
    if (answer === undefined) {
      const name = plain(key)
      answer = words.some((word) => name.endsWith(word))
      // Keys may come from data, so what is remembered has an end.
      if (known.size < 1000) known.set(key, answer)
    }
    return answer
  }
  return (meta) => clean(meta, isSecret, [])
}

function clean(value: unknown, isSecret: (key: string) => boolean, around: object[]): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (around.includes(value)) return '[circular]'
  if (around.length === deepest) return '[deep]'
  const inside = [...around, value]
  if (value instanceof Error) return clean(errorMembers(value), isSecret, inside)
  if (value instanceof Map) return clean(Object.fromEntries(value), isSecret, inside)
  if (value instanceof Set) return clean([...value], isSecret, inside)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if ('toJSON' in value && typeof value.toJSON === 'function') return clean(value.toJSON(), isSecret, inside)
  if (Array.isArray(value)) return value.map((item) => clean(item, isSecret, inside) ?? null)
  const copy: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) {
    copy[key] = member != null && isSecret(key) ? '[redacted]' : clean(member, isSecret, inside)
  }
  return copy
}

function errorMembers(error: Error): Record<string, unknown> {
  const { name, message, stack, cause } = error
  return { ...error, name, message, stack, cause }
}

function plain(key: string): string {
  return key.toLowerCase().replace(/[-_\s]/g, '')
}
