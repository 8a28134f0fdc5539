import './binary.mjs'
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { project, root, startRunner } from './support.mjs'

/** The examples of the README that name their file. */
const blocks = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/```ts\n\/\/ (\S+)\n([^]*?)```/g)]
const files = Object.fromEntries(blocks.map(([, name, text]) => [name, text]))
const packages = { tsx: 'tsx', zod: 'zod', '@types/node': '@types/node' }

function readme(t, more = {}) {
  const folder = project(t, { 'package.json': '{"type":"module"}', ...files, ...more }, packages)
  mkdirSync(join(folder, 'node_modules'), { recursive: true })
  symlinkSync(root, join(folder, 'node_modules/riverrun'))
  return folder
}

test('its examples are what the compiler takes', (t) => {
  const options = { strict: true, noEmit: true, target: 'es2022', module: 'nodenext', allowImportingTsExtensions: true, types: ['node'], skipLibCheck: true }
  const folder = readme(t, { 'tsconfig.json': JSON.stringify({ compilerOptions: options, include: ['**/*.ts'] }) })
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' })
  assert.equal(status, 0, stdout)
})

/** Runs tests in a process of their own; gives how many passed. */
function passed(folder, files) {
  // A runner of tests that finds itself inside of another runs nothing.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { status, stdout } = spawnSync(process.execPath, ['--import', 'tsx', '--test', '--test-reporter=tap', ...files], { cwd: folder, encoding: 'utf8', env })
  assert.equal(status, 0, stdout)
  return Number(/^# pass (\d+)/m.exec(stdout)?.[1])
}

test('its tests pass', (t) => {
  assert.equal(passed(readme(t), ['welcome.test.ts', 'payment.test.ts']), 7)
})

test('the example of docs/guides/waits.md waits, as docs/guides/testing.md tests it', async (t) => {
  const [, play] = /```ts\n(import \{ later, runStep \}[^]*?)```/.exec(readFileSync(join(root, '../../docs/guides/testing.md'), 'utf8'))
  const [, example] = /```ts\n\/\/ processes\/approve.ts\n([^]*?)```/.exec(readFileSync(join(root, '../../docs/guides/waits.md'), 'utf8'))
  const folder = project(t, {
    'package.json': '{"type":"module"}',
    'processes/approve.ts': example,
    'play.ts': `${play}\nconsole.log(JSON.stringify([done.value, done.executions, done.enqueued.length]))`,
  }, packages)
  symlinkSync(root, join(folder, 'node_modules/riverrun'))
  const printed = execFileSync(process.execPath, ['--import', 'tsx', 'play.ts'], { cwd: folder, encoding: 'utf8' })
  assert.deepEqual(JSON.parse(printed), [{ approved: true, by: 'card' }, 4, 1])
})

test('the tests of docs/guides/testing.md pass, and take no time', (t) => {
  const [, example] = /```ts\n\/\/ trip.test.ts\n([^]*?)```/.exec(readFileSync(join(root, '../../docs/guides/testing.md'), 'utf8'))
  const options = { strict: true, noEmit: true, target: 'es2022', module: 'nodenext', types: ['node'], skipLibCheck: true }
  const folder = project(t, { 'package.json': '{"type":"module"}', 'trip.test.ts': example, 'tsconfig.json': JSON.stringify({ compilerOptions: options }) }, packages)
  symlinkSync(root, join(folder, 'node_modules/riverrun'))
  const checked = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' })
  assert.equal(checked.status, 0, checked.stdout)
  assert.equal(passed(folder, ['trip.test.ts']), 3)
})

test('its processes run', async (t) => {
  const folder = readme(t)
  const runner = await startRunner(t, { env: { RIVERRUN_TYPESCRIPT_COMMAND: join(root, '../../target/debug/riverrun') } })
  const { result } = await runner.invoke(join(folder, 'processes/double.ts'), { n: 21 })
  assert.deepEqual(result, { value: 42 })
  const loaded = await runner.load(join(folder, 'processes/training.ts'))
  const { queue, state } = loaded.result.processes[0].config
  assert.equal(queue, 'ml-training')
  assert.equal(state.properties.accuracy.maximum, 1)
  const welcome = await runner.invoke(join(folder, 'processes/welcome.ts'), { email: 'ann@example.org', name: 'Ann' })
  assert.deepEqual(welcome.result, { value: { sent: 'Hello, Ann!' } })
})
