/** The binary that plays flows: where it is found, and what is said if it is not. */

import './binary.mjs'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { runStep } from '../dist/testing.js'

const kit = fileURLToPath(new URL('../dist/testing.js', import.meta.url))

/** The error that a test process with this environment gets. */
function missing(env) {
  const { RIVERRUN_BINARY, ...rest } = process.env
  const script = `const { execute, runStep } = await import(${JSON.stringify(kit)})
    const failed = await runStep(() => 1).catch((error) => error)
    console.log(JSON.stringify([failed.code, failed.message, (await execute(() => 1)).value]))`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { env: { ...rest, ...env }, encoding: 'utf8' })
  assert.equal(stderr, '')
  const [code, message, value] = JSON.parse(stdout)
  assert.deepEqual([code, value], ['RUNTIME_MISSING', 1])
  return message
}

test('without the binary it says what to do', () => {
  assert.match(missing({ RIVERRUN_BINARY: '/not/there' }), /RIVERRUN_BINARY names \/not\/there, which cannot be executed: install riverrun, or set/)
  assert.match(missing({ PATH: '/not/there' }), /there is no riverrun on the PATH: install riverrun, or set RIVERRUN_BINARY/)
})

test('a test that gives up a run leaves the next one alone', async () => {
  const waits = async (_, ctx) => (await ctx.await.trigger({ type: 'user' })).wait()
  const triggers = () => {
    throw new Error('no such callback')
  }
  await assert.rejects(runStep(waits, { triggers }), { message: 'no such callback' })
  assert.equal((await runStep(waits, { triggers: () => 'yes' })).value, 'yes')
})
