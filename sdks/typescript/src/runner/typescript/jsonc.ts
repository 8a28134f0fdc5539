/** JSON with comments and trailing commas, as tsconfig.json has it. */
export function parseJsonc(text: string): unknown {
  // Strings come first, so that what looks like a comment inside one is left alone.
  const plain = text.replace(/^\uFEFF/, '').replace(/"(?:[^"\\]|\\.)*"|\/\/[^\n\r]*|\/\*[^]*?\*\//g, (part) => (part[0] === '"' ? part : ' '))
  const strict = plain.replace(/"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])/g, (part) => (part[0] === '"' ? part : ''))
  return strict.trim() ? JSON.parse(strict) : undefined
}
