/**
 * The worker's side of a measurement: handlers say what happened to them, on one connection to the
 * program that measures. All peers' handlers speak this way, so that it costs all of them the same.
 */

import { connect } from 'node:net'

/** Milliseconds of a clock that all processes of this machine share. */
export const nowMs = () => Number(process.hrtime.bigint()) / 1e6

let socket

function report(message) {
  socket ??= open()
  socket.write(`${JSON.stringify(message)}\n`)
}

function open() {
  const socket = connect({ port: Number(process.env.PEERS_PORT), host: '127.0.0.1', noDelay: true })
  // The measuring process has ended.
  socket.on('error', () => {})
  return socket.unref()
}

/** A job that was sent at `sentMs` has begun. */
export const began = (sentMs) => report({ waitedMs: nowMs() - sentMs })

/** A flow has come to its end. */
export const ended = (n) => report({ ended: n })

let handled = 0
let later

/** One more job is done. Said at once for the first and then every few milliseconds. */
export function counted() {
  if (++handled === 1) report({ handled, atMs: nowMs() })
  later ??= setTimeout(() => {
    later = undefined
    report({ handled, atMs: nowMs() })
  }, 5)
}
