/**
 * What the server refuses of events that handlers emit, and of callbacks that they make.
 */

import { RiverrunError } from '../errors.ts'

/** Families of events that only the server writes. */
const reserved = new Set(['flow', 'step', 'job', 'call', 'state', 'log', 'trigger', 'worker'])

/** What the data of an event may have, and what goes through a callback. */
const limit = 1024 * 1024

const minSecretBytes = 8

export function checkEvent(type: string, data: any): void {
  // An `emit` has its kind in its data.
  const topic = type === 'emit' ? (data?.topic ?? data?.name ?? data?.kind) : undefined
  for (const kind of [type, topic]) if (typeof kind === 'string') checkKind(kind)
  checkBytes('event', data)
}

export function checkBytes(what: string, data: unknown): void {
  const bytes = data === undefined ? 0 : Buffer.byteLength(JSON.stringify(data))
  if (bytes > limit) refuse('TOO_LARGE', `the ${what} has ${bytes} bytes; it may have ${limit}`)
}

/** A secret that is too short to sign with. */
export function checkSecret(secret: string | undefined): void {
  if (secret !== undefined && Buffer.byteLength(secret) < minSecretBytes) refuse('INPUT_ERROR', `the secret of a callback has fewer than ${minSecretBytes} bytes`)
}

function checkKind(kind: string): void {
  if (!/^[A-Za-z0-9._:/-]{1,128}$/.test(kind)) refuse('BAD_EVENT', `${JSON.stringify(kind)} is no type of event`)
  if (reserved.has(kind.split('.')[0] as string)) refuse('RESERVED_TYPE', `only the server may write events of the type ${JSON.stringify(kind)}`)
}

function refuse(code: string, message: string): never {
  throw new RiverrunError(code, message, { retriable: false })
}
