/** The signature that a callback with a secret requires: the HMAC-SHA256 of the body. */
export async function signature(secret: string, body: string): Promise<string> {
  const bytes = new TextEncoder()
  const key = await crypto.subtle.importKey('raw', bytes.encode(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  const made = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes.encode(body)))
  return `sha256=${Array.from(made, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
