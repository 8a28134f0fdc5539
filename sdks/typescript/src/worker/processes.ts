/**
 * What an application offers to run, as the server gets it.
 */

import { join } from 'node:path'
import type { ProcessConfig } from '../config.ts'
import { redactor } from '../ctx/redact.ts'
import { definition } from '../define.ts'
import { RiverrunError } from '../errors.ts'
import { isObject } from '../json.ts'
import { configJson } from '../runner/config-json.ts'
import { parserOf } from '../runner/inputs.ts'
import type { Process, Processes } from '../runner/modules.ts'

/** A handler, defined or plain, or a module that exports one as its default, with or without a `config`. */
export type Offered = ((first: any, ctx: any) => unknown) | { default: (first: any, ctx: any) => unknown; config?: ProcessConfig }

/** By id, which is also the name of the queue where the config gives none. */
export async function processesOf(offered: Record<string, Offered>): Promise<Processes> {
  const processes: Processes = new Map()
  for (const [id, one] of Object.entries(offered)) processes.set(id, await processOf(id, one))
  if (!processes.size) throw new RiverrunError('NO_PROCESSES', 'a worker needs something to run: give processes')
  return processes
}

async function processOf(id: string, offered: Offered): Promise<Process> {
  const handler = isObject(offered) && typeof offered !== 'function' ? (offered as { default?: unknown }).default : offered
  if (typeof handler !== 'function') throw new RiverrunError('HANDLER_NOT_FOUND', `processes.${id} is no function, and no module that exports one as its default`)
  const exported = typeof offered === 'function' ? undefined : offered.config
  const defined = definition(handler)
  const config: ProcessConfig = { ...(handler as { config?: ProcessConfig }).config, ...defined?.config, ...exported }
  const { level = 'debug', redact } = config.logger ?? {}
  return {
    handler: handler as Process['handler'],
    takes: defined?.takes ?? 'input',
    // Schemas are turned with what the application has installed.
    config: await configJson(config, join(process.cwd(), `${id}.js`)),
    logs: { level, redact: redactor(redact) },
    parse: parserOf(config.inputSchema),
  }
}
