/**
 * Durations as the server reads them: milliseconds, `90s`, `1h 30m`, `2 days`, `PT5M`. Months and
 * years have no fixed length, so they are none.
 */

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const units: [RegExp, number][] = [
  [/^(w|wks?|weeks?)$/, 7 * day],
  [/^(d|days?)$/, day],
  [/^(h|hrs?|hours?)$/, hour],
  [/^(m|mins?|minutes?)$/, minute],
  [/^(s|secs?|seconds?)$/, second],
  [/^(ms|msecs?|millis?|milliseconds?)$/, 1],
]

const iso = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d+)?)S)?)?$/i

/** Milliseconds; undefined if the text is no duration. */
export function durationMs(duration: number | string): number | undefined {
  if (typeof duration === 'number') return Number.isFinite(duration) && duration >= 0 ? Math.round(duration) : undefined
  const text = duration.trim().toLowerCase()
  if (/^\d+(\.\d+)?$/.test(text)) return Math.round(Number(text))
  return isoMs(text) ?? friendlyMs(text)
}

function isoMs(text: string): number | undefined {
  const parts = iso.exec(text)?.slice(1)
  if (!parts?.some((part) => part !== undefined)) return undefined
  const sizes = [7 * day, day, hour, minute, second]
  return Math.round(parts.reduce((sum, part, index) => sum + Number((part ?? '0').replace(',', '.')) * (sizes[index] as number), 0))
}

function friendlyMs(text: string): number | undefined {
  const part = /(\d+(?:\.\d+)?)\s*([a-z]+)[\s,]*/gy
  let sum = 0
  for (let read = 0; read < text.length; read = part.lastIndex) {
    const [, count, unit] = part.exec(text) ?? []
    const size = units.find(([name]) => unit !== undefined && name.test(unit))?.[1]
    if (size === undefined) return undefined
    sum += Number(count) * size
  }
  return text ? Math.round(sum) : undefined
}
