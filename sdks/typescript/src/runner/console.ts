/**
 * Gives each line that a handler prints with `console` to the invocation that printed it. What is
 * printed outside of one, or straight to a stream, goes where it always went: the server reads
 * standard output too, but cannot know whose a line is.
 */

import { format } from 'node:util'
import type { LogLevel } from '../context.ts'

const levels = { debug: 'debug', log: 'info', info: 'info', warn: 'warn', error: 'error', trace: 'debug' } as const

/** `log` says whether it has taken the line. */
export function captureConsole(log: (level: LogLevel, message: string) => boolean): void {
  for (const [method, level] of Object.entries(levels) as [keyof typeof levels, LogLevel][]) {
    const print = console[method].bind(console)
    console[method] = (...args: unknown[]) => {
      if (!log(level, format(...args))) print(...args)
    }
  }
}
