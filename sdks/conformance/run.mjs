#!/usr/bin/env node
/**
 * Plays the conversations against the runner of an SDK, and against a worker that is made with it.
 *
 *     node run.mjs --language typescript [--only state,patch] [--jobs 4] [--verbose]
 */

import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { play } from './driver/conversation.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const { values: flags } = parseArgs({
  options: {
    language: { type: 'string' },
    only: { type: 'string' },
    jobs: { type: 'string', default: '4' },
    verbose: { type: 'boolean', default: false },
  },
})

const languages = JSON.parse(readFileSync(join(here, 'languages.json'), 'utf8'))
const language = languages[flags.language]
if (!language) {
  console.error(`error: --language must be one of ${Object.keys(languages).join(', ')}`)
  process.exit(2)
}

const only = flags.only?.split(',')
const names = readdirSync(join(here, 'conversations'))
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -'.json'.length))
  .filter((name) => !only || only.includes(name))
  .sort()
if (!names.length) {
  console.error(`error: no conversation is called ${flags.only}`)
  process.exit(2)
}

const command = (parts) => parts.map((part) => (part.startsWith('.') ? resolve(here, part) : part))
const setup = {
  command: command(language.command),
  worker: command(language.worker),
  env: Object.fromEntries(
    Object.entries(language.env ?? {}).map(([key, value]) => [key, value.startsWith('.') ? resolve(here, value) : value]),
  ),
  cwd: here,
  fixture: (name) => join(here, language.fixtures, `${name}.${language.extension}`),
}

const failed = []
const queue = [...names]
await Promise.all(Array.from({ length: Number(flags.jobs) }, worker))
console.log(`${flags.language}: ${names.length - failed.length} of ${names.length} conversations passed`)
if (failed.length) console.log(`failed: ${failed.sort().join(' ')}`)
process.exitCode = failed.length ? 1 : 0

async function worker() {
  for (let name = queue.shift(); name; name = queue.shift()) await attempt(name)
}

async function attempt(name) {
  const conversation = JSON.parse(readFileSync(join(here, 'conversations', `${name}.json`), 'utf8'))
  try {
    await play(conversation, setup)
    console.log(`ok    ${name}`)
  } catch (error) {
    failed.push(name)
    console.log(`FAIL  ${name}: ${conversation.about}\n      ${error.step ?? ''}\n      ${error.message}`)
    if (flags.verbose) {
      for (const line of error.transcript ?? []) console.log(`        ${line}`)
      if (error.printed) console.log(`      printed:\n${error.printed}`)
    }
  }
}
