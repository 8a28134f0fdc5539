import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { Runner } from '../../conformance/driver/runner.mjs'
import { project, root, startRunner } from './support.mjs'

const handlers = {
  'rejects.mjs': "export default async (input) => { Promise.reject(new Error('forgotten')); await new Promise((r) => setTimeout(r, input)); return 'unharmed' }",
  'throws.mjs': "export default async (input) => { setTimeout(() => { throw new Error('in a timer') }, 5); await new Promise((r) => setTimeout(r, 60000)) }",
  'echo.mjs': 'export default (input) => input',
  'console.mjs': "export default async (input) => { console.log('hello %s', input); await null; console.error({ a: 1 }); console.debug('d'); setTimeout(() => console.log('after the end'), 30) }",
  'noisy.mjs': "export default async (input, ctx) => { for (let i = 0; i < input; i++) ctx.logger.info('x'.repeat(100000)); return 'done' }",
  'large.mjs': "export default async (input, ctx) => { ctx.logger.info('x'.repeat(input)); try { await ctx.state.set('a', 'x'.repeat(input)) } catch (error) { return error.code } }",
  'unserialisable.mjs': "export default async (input, ctx) => { const meta = { big: 1n, self: null, error: new TypeError('bad'), when: new Date(0), tokens: 5, apiKey: 'k', f() {} }; meta.self = meta; ctx.logger.info('meta', meta); ctx.progress(150); ctx.partial(undefined) }",
  'destructured.mjs': "export default async (input, { state, logger, emit, progress, run, signal, attempt }) => { logger.info('a'); progress(1); return [attempt, signal.aborted, typeof run, typeof emit, typeof state.get] }",
  'thrown.mjs': "export default async (input) => { if (input === 'text') throw 'plain text'; const error = new Error('outer', { cause: new Error('inner') }); error.details = 1n; error.code = 42; throw error }",
  'secret.mjs': "export const config = { logger: { level: 'info', redact: ['iban'] } }\nexport default (input, ctx) => { ctx.logger.debug('no'); ctx.logger.info('yes', { iban: 'DE', authorization: 'x', accessToken: 'y', 'x-api-key': 'z' }) }",
}

test('an unhandled rejection fails its own invocation', async (t) => {
  const folder = project(t, handlers)
  const runner = await startRunner(t)
  const other = runner.invoke(join(folder, 'echo.mjs'), 'other')
  const { error } = await runner.invoke(join(folder, 'rejects.mjs'), 50)
  assert.equal(error.message, 'forgotten')
  assert.deepEqual((await other).result, { value: 'other' })
  const log = await runner.next((message) => message.method === 'log')
  assert.equal(log.params.level, 'error')
  assert.match(log.params.message, /uncaught: Error: forgotten/)
  assert.deepEqual((await runner.invoke(join(folder, 'echo.mjs'), 1)).result, { value: 1 })
})

test('an exception in a timer fails its own invocation', async (t) => {
  const folder = project(t, handlers)
  const runner = await startRunner(t)
  const { error } = await runner.invoke(join(folder, 'throws.mjs'), 1)
  assert.equal(error.message, 'in a timer')
  assert.deepEqual((await runner.invoke(join(folder, 'echo.mjs'), 1)).result, { value: 1 })
})

test('an error of no invocation is printed, and the runner continues', async (t) => {
  const folder = project(t, { 'a.mjs': "setTimeout(() => { throw new Error('at large') }, 20)\nexport default (input) => input" })
  const runner = await startRunner(t)
  assert.deepEqual((await runner.invoke(join(folder, 'a.mjs'), 1)).result, { value: 1 })
  await runner.runner.until(() => runner.runner.printed.includes('at large') || undefined, 5000)
  assert.match(runner.runner.printed, /belongs to no invocation: Error: at large/)
  assert.deepEqual((await runner.invoke(join(folder, 'a.mjs'), 2)).result, { value: 2 })
})

test('lines of console belong to the invocation that printed them', async (t) => {
  const folder = project(t, handlers)
  const runner = await startRunner(t)
  const id = runner.lastId + 1
  await runner.invoke(join(folder, 'console.mjs'), 'ann')
  const logs = runner.messages.filter(({ method }) => method === 'log').map(({ params }) => params)
  assert.deepEqual(logs, [
    { invocation: id, level: 'info', message: 'hello ann' },
    { invocation: id, level: 'error', message: '{ a: 1 }' },
    { invocation: id, level: 'debug', message: 'd' },
  ])
  await runner.runner.until(() => runner.runner.printed.includes('after the end') || undefined, 5000)
  assert.match(runner.runner.printed, /after the end/)
})

test('a server that does not read loses nothing', async (t) => {
  const folder = project(t, handlers)
  const runner = await startRunner(t)
  const output = runner.runner.child.stdio[3]
  output.pause()
  const invocation = runner.invoke(join(folder, 'noisy.mjs'), 300)
  await new Promise((resolve) => setTimeout(resolve, 500))
  output.resume()
  assert.deepEqual((await invocation).result, { value: 'done' })
  assert.equal(runner.messages.filter(({ method }) => method === 'log').length, 300)
})

test('no message is longer than the server takes', async (t) => {
  const folder = project(t, handlers)
  const runner = await startRunner(t, { limits: { messageBytes: 10000 } })
  assert.deepEqual((await runner.invoke(join(folder, 'large.mjs'), 20000)).result, { value: 'MESSAGE_TOO_LARGE' })
  const log = await runner.next((message) => message.method === 'log')
  assert.match(log.params.message, /a log was left out/)
  assert.ok(runner.messages.every((message) => JSON.stringify(message).length < 10000))
})

test('a message longer than the limit ends the connection', async (t) => {
  const runner = await startRunner(t, { limits: { messageBytes: 1000 } })
  runner.runner.write('x'.repeat(2000))
  const exit = await runner.runner.until(() => runner.runner.exit, 5000)
  assert.equal(exit.code, 1)
  assert.match(runner.runner.printed, /more than 1000 bytes/)
})

test('a long message in many pieces costs its length, not its square', async (t) => {
  const folder = project(t, handlers)
  const runner = await startRunner(t)
  const text = 'x'.repeat(1_000_000)
  await runner.load(join(folder, 'echo.mjs'))
  const message = JSON.stringify({ id: 99, method: 'invoke', params: { file: join(folder, 'echo.mjs'), input: text } })
  for (let at = 0; at < message.length; at += 200) runner.runner.child.stdin.write(message.slice(at, at + 200))
  runner.runner.child.stdin.write('\n')
  const { result } = await runner.answer(99)
  assert.equal(result.value.length, text.length)
})

test('meta of logs is made JSON, whatever it is', async (t) => {
  const folder = project(t, handlers)
  const runner = await startRunner(t)
  await runner.invoke(join(folder, 'unserialisable.mjs'), 1)
  const { meta } = (await runner.next(({ method }) => method === 'log')).params
  assert.equal(meta.big, '1')
  assert.equal(meta.self, '[circular]')
  assert.equal(meta.error.message, 'bad')
  assert.equal(meta.when, '1970-01-01T00:00:00.000Z')
  assert.equal(meta.tokens, 5)
  assert.equal(meta.apiKey, '[redacted]')
  assert.equal((await runner.next(({ method }) => method === 'progress')).params.pct, 100)
  assert.equal((await runner.next(({ method }) => method === 'partial')).params.value, null)
})

test('a process sets its own level and more keys to redact', async (t) => {
  const folder = project(t, handlers)
  const runner = await startRunner(t)
  await runner.invoke(join(folder, 'secret.mjs'), 1)
  const logs = runner.messages.filter(({ method }) => method === 'log')
  const hidden = '[redacted]'
  assert.deepEqual(logs.map(({ params }) => [params.message, params.meta]), [['yes', { iban: hidden, authorization: hidden, accessToken: hidden, 'x-api-key': hidden }]])
})

test('a context can be taken apart', async (t) => {
  const folder = project(t, handlers)
  const runner = await startRunner(t)
  const { result } = await runner.invoke(join(folder, 'destructured.mjs'), 1)
  assert.deepEqual(result, { value: [1, false, 'function', 'function', 'function'] })
})

test('anything may be thrown', async (t) => {
  const folder = project(t, handlers)
  const runner = await startRunner(t)
  const text = await runner.invoke(join(folder, 'thrown.mjs'), 'text')
  assert.deepEqual(text.error, { code: -32000, message: 'plain text', data: {} })
  const { error } = await runner.invoke(join(folder, 'thrown.mjs'), 1)
  assert.equal(error.message, 'outer')
  assert.equal(error.data.code, undefined)
  assert.equal(error.data.details, undefined)
  assert.match(error.data.stack, /Error: outer[^]*caused by: Error: inner/)
})

test('an error that carries a document is cut, and a thenable that lies fails alone', async (t) => {
  const folder = project(t, {
    'long.mjs': "export default () => { throw Object.assign(new Error('x'.repeat(20_000_000)), { details: 'y'.repeat(20_000_000) }) }",
    'liar.mjs': "export default () => ({ then() { throw new Error('no promise') } })",
    'batch.mjs': "export const config = { batch: { size: 10 } }\nexport default (inputs) => inputs.map(() => 'x'.repeat(900))",
  })
  const runner = await startRunner(t, { limits: { messageBytes: 400_000, resultBytes: 1000 } })
  const { error } = await runner.invoke(join(folder, 'long.mjs'), 1)
  assert.equal(error.message.length, 65537)
  assert.equal(error.data.details, undefined)
  assert.equal((await runner.invoke(join(folder, 'liar.mjs'), 1)).error.message, 'no promise')
  const jobs = (count) => Array.from({ length: count }, (_, n) => ({ jobId: `j${n}`, input: n }))
  assert.equal((await runner.invoke(join(folder, 'batch.mjs'), undefined, { jobs: jobs(10) })).result.results.length, 10)
  assert.equal((await runner.invoke(join(folder, 'batch.mjs'), undefined, { jobs: jobs(1000) })).error.data.code, 'RESULT_TOO_LARGE')
})

test('a list of the wrong length is no answer to a batch', async (t) => {
  const folder = project(t, { 'a.mjs': 'export const config = { batch: { size: 10 } }\nexport default () => [1]' })
  const runner = await startRunner(t)
  const { error } = await runner.invoke(join(folder, 'a.mjs'), undefined, { jobs: [{ input: 1 }, { input: 2 }] })
  assert.equal(error.data.code, 'BATCH_RESULTS')
})

test('messages may leave on standard output, and then nothing else does', async (t) => {
  const folder = project(t, { 'a.mjs': "export default () => { process.stdout.write('not protocol\\n'); return 1 }" })
  const input = [
    { id: 1, method: 'initialise', params: { protocol: 1 } },
    { id: 2, method: 'invoke', params: { file: join(folder, 'a.mjs') } },
    { id: 3, method: 'drain', params: { graceMs: 5000 } },
  ]
  const runner = new Runner([process.execPath, join(root, 'dist/runner.mjs')], { RIVERRUN_RUNNER_FD: '1' })
  t.after(() => runner.kill())
  const stdout = []
  runner.child.stdout.on('data', (text) => stdout.push(text))
  runner.write(input.map((message) => `${JSON.stringify(message)}\n`).join(''))
  await runner.until(() => stdout.join('').includes('unfinished') || undefined, 5000)
  const lines = stdout.join('').trim().split('\n').map((line) => JSON.parse(line))
  assert.deepEqual(lines.map(({ id }) => id), [1, 2, 3])
})

test('started by hand it says what it is', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'dist/runner.mjs')], { encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe', 'ignore'] })
  assert.equal(status, 2)
  assert.match(stderr, /started by the riverrun server/)
})
