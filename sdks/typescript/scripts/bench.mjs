/**
 * How many no-op invocations a second go through one runner.
 *
 *     npm run bench -- [--seconds 5] [--window 256] [--handler noop|log|state] [--node /path/to/node]
 *
 * The driver keeps `window` invocations open, writes those that fit together in one call as the
 * server does, and looks at answers no closer than it must: what is measured is the runner. The
 * rate per second of the runner's own processor time says the same on a machine that is busy.
 */

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    window: { type: 'string', default: '256' },
    handler: { type: 'string', default: 'noop' },
    node: { type: 'string', default: process.execPath },
  },
})

const handlers = {
  noop: 'export default async () => {}',
  log: 'export default async (input) => console.log("line", input.n)',
  state: 'export default async (input, ctx) => ctx.state.set("n", input.n)',
}

const folder = mkdtempSync(join(tmpdir(), 'riverrun-bench-'))
const file = join(folder, 'handler.mjs')
writeFileSync(file, handlers[flags.handler])

const runner = join(dirname(fileURLToPath(import.meta.url)), '../dist/runner.mjs')
const child = spawn(flags.node, [runner], { stdio: ['pipe', 'ignore', 'inherit', 'pipe'] })
const window = Number(flags.window)

let nextId = 1
let answered = 0
let open = 0
let isOver = false

const invocation = (id) =>
  `{"id":${id},"method":"invoke","params":{"process":"noop","file":${JSON.stringify(file)},"export":"default","revision":1,"kind":"job","jobId":"0198a7b2-6b1e-7c3f-9a54-${String(id).padStart(12, '0')}","queue":"noop","name":"noop","input":{"n":${id}},"attempt":1,"maxAttempts":3,"timeoutMs":30000,"enqueuedAt":"2026-01-01T00:00:00.000Z"}}\n`

function fill() {
  if (isOver) return
  let text = ''
  for (; open < window; open++) text += invocation(nextId++)
  if (text) child.stdin.write(text)
}

let rest = ''
child.stdio[3].setEncoding('latin1').on('data', (chunk) => {
  const lines = (rest + chunk).split('\n')
  rest = lines.pop()
  let replies = ''
  for (const line of lines) {
    if (line.includes('"result"')) {
      answered += 1
      open -= 1
    } else if (line.startsWith('{"id"')) {
      if (line.includes('"error"')) throw new Error(line)
      replies += `{"id":${JSON.parse(line).id},"result":{"version":1}}\n`
    }
  }
  if (replies) child.stdin.write(replies)
  fill()
})

child.stdin.write(`{"id":0,"method":"initialise","params":{"protocol":1,"limits":{"messageBytes":16777216,"resultBytes":1048576}}}\n`)
open = 1
fill()

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
await pause(1500)
const begin = { answered, at: performance.now(), cpu: cpuSeconds(child.pid) }
await pause(Number(flags.seconds) * 1000)
const seconds = (performance.now() - begin.at) / 1000
const done = answered - begin.answered
const cpu = cpuSeconds(child.pid) - begin.cpu
console.log(`${flags.handler}, ${window} in flight: ${Math.round(done / seconds)} invocations/s, ${Math.round(done / cpu)} per second of the runner's processor time`)
isOver = true
child.stdin.end()
rmSync(folder, { recursive: true })

/** Of all its threads; Linux counts in hundredths of a second. */
function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}
