/** A text as one part of a path. */
export function part(text: string): string {
  return encodeURIComponent(text)
}
