import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, createServer as createProxy } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { z } from 'zod'
import { defineProcess, defineQueueWorker, defineStep } from '../dist/index.js'
import { startWorker } from '../dist/worker.js'
import { signal, startServer } from './server.mjs'
import { project, root } from './support.mjs'

const fast = ['--set', 'lease=3s']

async function work(t, server, processes, options = {}) {
  const worker = await startWorker({ url: server.url, processes, signals: [], ...options })
  t.after(() => worker.stop({ graceMs: 0 }).catch(() => {}))
  return worker
}

test('the server lets in what a schema parses, and the handler gets what it makes of it', async (t) => {
  const server = await startServer(t)
  const inputSchema = z.object({ width: z.coerce.number().min(1), height: z.number().default(480) })
  await work(t, server, { resize: defineQueueWorker((job) => job.data, { inputSchema, retryPolicy: { attempts: 1 } }) })
  const added = async (data) => server.client.waitJob((await server.client.enqueue('resize', data)).jobId, { timeoutMs: 20_000 })
  assert.deepEqual((await added({ width: '640' })).result, { width: 640, height: 480 })
  await assert.rejects(server.client.enqueue('resize', { width: 1, height: 'x' }), { code: 'INPUT_INVALID' })
  const { error } = await added({ width: 'x' })
  assert.deepEqual([error.code, /^the input breaks the schema at "width": /.test(error.message)], ['INPUT_INVALID', true])
})

test('an application serves queues, calls and steps itself', async (t) => {
  const server = await startServer(t)
  const { client } = server
  const worker = await work(
    t,
    server,
    {
      resize: defineQueueWorker(
        async (job, ctx) => {
          ctx.logger.info('resizing', { password: 'x' })
          ctx.progress(50)
          await ctx.state.set('width', job.data.width)
          const once = await ctx.run('once', () => 1)
          return { width: await ctx.state.get('width'), once, valid: await job.isLeaseValid(), queue: job.queue }
        },
        { inputSchema: z.object({ width: z.number() }), concurrency: 4 },
      ),
      greet: { config: { runMode: 'call' }, default: (name) => `Hello, ${name}!` },
      sum: defineProcess((numbers) => numbers.map((n) => n + 1), { batch: { size: 10, waitMs: 50 } }),
      broken: () => {
        throw Object.assign(new Error('no'), { code: 'BROKEN', retriable: false })
      },
      nap: defineStep(async (input, ctx) => {
        await ctx.emit('napping', input)
        await ctx.await.time(10)
        return { slept: ctx.step }
      }),
    },
    { name: 'app', tags: ['web'], concurrency: 3 },
  )
  assert.equal(worker.isConnected, true)
  const [shown] = await client.workers.list()
  assert.deepEqual([shown.name, shown.tags, shown.window, shown.state, shown.processes], ['app', ['web'], 3, 'connected', ['broken', 'greet', 'nap', 'resize', 'sum']])
  assert.match(shown.sdk, /typescript/)

  const { jobId } = await client.enqueue('resize', { width: 640 })
  const done = await client.waitJob(jobId, { timeoutMs: 20_000 })
  assert.deepEqual(done.result, { width: 640, once: 1, valid: true, queue: 'resize' })
  const events = await client.streamEvents(`nq:job:${jobId}`)
  const log = events.items.find(({ type }) => type === 'log.info')
  assert.deepEqual([log.data.message, JSON.stringify(log.data).includes('"x"')], ['resizing', false])
  await assert.rejects(client.enqueue('resize', { width: 'wide' }), { code: 'INPUT_INVALID' })

  assert.equal(await client.call('greet', 'Ann'), 'Hello, Ann!')
  const batch = await client.enqueueMany('sum', [{ data: 1 }, { data: 2 }])
  assert.deepEqual(await Promise.all(batch.map(async ({ jobId: id }) => (await client.waitJob(id)).result)), [2, 3])
  const failed = await client.waitJob((await client.enqueue('broken', null)).jobId)
  assert.deepEqual([failed.state, failed.error.code], ['failed', 'BROKEN'])

  await client.flows.register({ id: 'day', version: '1.0.0', initialStepId: 'nap', steps: { nap: { type: 'process', config: { process: 'nap' }, transitions: { onSuccess: null } } } })
  const run = await client.startAndWait('day', { tired: true }, { timeoutMs: 20_000 })
  assert.deepEqual([run.status, run.result], ['completed', { slept: 'nap' }])
})

test('the steps of an application make a flow, and one that disagrees is reported', async (t) => {
  const server = await startServer(t)
  const order = defineStep(async (input, ctx) => {
    await ctx.emit('ordered', { n: input.n + 1 })
  }, { flow: { id: 'shop', role: 'entry', step: 'order', emits: ['ordered'] } })
  const ship = (eventKind) => defineStep(({ n }) => ({ shipped: n }), { flow: { id: 'shop', step: 'ship', subscriptions: [{ eventKind, when: (event) => event.data.n > 0 }] } })
  const received = []
  const worker = await work(t, server, { order, ship: ship('ordered') }, { name: 'one', onConnect: (welcome) => received.push(welcome) })
  assert.deepEqual(worker.welcome, { workerId: 1, shadowed: [], flows: [{ id: 'shop', version: '1.0.0' }], faults: [] })
  assert.deepEqual(received, [worker.welcome])
  const run = await server.client.startAndWait('shop', { n: 6 }, { timeoutMs: 20_000 })
  assert.deepEqual([run.status, run.result], ['completed', { shipped: 7 }])
  const other = await work(t, server, { order, ship: ship('paid') }, { name: 'two' })
  assert.deepEqual(other.welcome.faults.map(({ code }) => code), ['FLOW_CONFLICT'])
})

test('what runs is cancelled when the server says so', async (t) => {
  const server = await startServer(t)
  const begun = signal()
  const reason = signal()
  await work(t, server, {
    hold: (_, ctx) =>
      new Promise((_resolve, reject) => {
        begun.settle()
        ctx.signal.addEventListener('abort', () => {
          reason.settle(ctx.signal.reason.reason)
          reject(ctx.signal.reason)
        })
      }),
  })
  const { jobId } = await server.client.enqueue('hold', null)
  await begun
  await server.client.cancelJob(jobId, 'enough')
  assert.equal(await reason, 'user')
  assert.equal((await server.client.waitJob(jobId)).state, 'cancelled')
})

test('a connection that breaks costs nothing: the job ends once, in the same attempt', async (t) => {
  const server = await startServer(t)
  const proxy = await startProxy(t, server.url)
  const begun = signal()
  const go = signal()
  const back = signal()
  let attempts = 0
  let connects = 0
  const worker = await startWorker({
    url: proxy.url,
    signals: [],
    onDisconnect: () => proxy.open(),
    onConnect: () => ++connects === 2 && back.settle(),
    processes: {
      hold: async (_, ctx) => {
        attempts += 1
        begun.settle()
        await go
        // Asked while there is no server: it waits, and is done once.
        await ctx.emit('woken', { attempt: ctx.attempt })
        return ctx.attempt
      },
    },
  })
  t.after(() => worker.stop({ graceMs: 0 }))
  const { jobId } = await server.client.enqueue('hold', null)
  await begun
  proxy.cut()
  go.settle()
  await back
  const done = await server.client.waitJob(jobId, { timeoutMs: 20_000 })
  assert.deepEqual([done.state, done.result, attempts], ['completed', 1, 1])
  const events = await server.client.streamEvents(`nq:job:${jobId}`)
  assert.equal(events.items.filter(({ type }) => type === 'woken').length, 1)
})

test('a server that restarts is worked for again', async (t) => {
  const server = await startServer(t, fast)
  const reconnects = []
  let isStarted = false
  const again = signal()
  await work(t, server, { echo: (input) => input }, { onDisconnect: ({ code }) => reconnects.push(code), onConnect: () => isStarted && again.settle() })
  isStarted = true
  assert.equal((await server.client.waitJob((await server.client.enqueue('echo', 1)).jobId)).result, 1)
  await server.restart()
  await again
  assert.equal((await server.client.waitJob((await server.client.enqueue('echo', 2)).jobId, { timeoutMs: 20_000 })).result, 2)
  assert.deepEqual(reconnects, ['UNREACHABLE'])
})

test('what runs over the crash of a server is asked to stop, and tried again', async (t) => {
  const server = await startServer(t, fast)
  const begun = [signal(), signal()]
  const stopped = signal()
  let attempts = 0
  await work(t, server, {
    hold: async (_, ctx) => {
      begun[attempts++].settle()
      if (attempts > 1) return ctx.attempt
      return new Promise((_resolve, reject) =>
        ctx.signal.addEventListener('abort', () => {
          stopped.settle(ctx.signal.reason.reason)
          reject(ctx.signal.reason)
        }),
      )
    },
  })
  const { jobId } = await server.client.enqueue('hold', null, { backoff: { type: 'fixed', delayMs: 10 } })
  await begun[0]
  await server.restart('SIGKILL')
  assert.equal(await stopped, 'lease-lost')
  const done = await server.client.waitJob(jobId, { timeoutMs: 30_000 })
  assert.deepEqual([done.state, attempts], ['completed', 2])
})

test('stop takes no more, ends what runs, and leaves', async (t) => {
  const server = await startServer(t)
  const begun = signal()
  const go = signal()
  let calls = 0
  const worker = await work(t, server, {
    hold: async () => {
      calls += 1
      begun.settle()
      await go
      return 'done'
    },
  }, { concurrency: 1 })
  const first = await server.client.enqueue('hold', 1)
  await begun
  const second = await server.client.enqueue('hold', 2)
  const stopped = worker.stop()
  assert.equal(await Promise.race([stopped.then(() => 'ended'), new Promise((resolve) => setTimeout(resolve, 100, 'running'))]), 'running')
  go.settle()
  await stopped
  assert.equal((await server.client.waitJob(first.jobId)).result, 'done')
  assert.deepEqual([(await server.client.job(second.jobId)).state, calls, worker.running], ['waiting', 1, 0])
  assert.deepEqual(await server.client.workers.list(), [])
  await worker.stop()
})

test('the server lets a worker go', async (t) => {
  const server = await startServer(t)
  const worker = await work(t, server, { echo: (input) => input })
  const [{ id }] = await server.client.workers.list()
  await server.client.workers.drain(id)
  await worker.ended
  assert.equal(worker.isConnected, false)
})

test('SIGTERM drains a program, and then ends it as it would have', async (t) => {
  const server = await startServer(t)
  const folder = project(t, {
    'package.json': '{"type":"module"}',
    'app.mjs': `
      import { startWorker } from ${JSON.stringify(join(root, 'dist/worker.js'))}
      const worker = await startWorker({ url: ${JSON.stringify(server.url)}, processes: {
        slow: async () => {
          console.log('begun')
          await new Promise((resolve) => setTimeout(resolve, 500))
          return 'done'
        },
      } })
    `,
  })
  const child = spawn(process.execPath, [join(folder, 'app.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const begun = new Promise((resolve) => child.stdout.once('data', resolve))
  const gone = new Promise((resolve) => child.once('exit', (code, how) => resolve([code, how])))
  const { jobId } = await server.client.enqueue('slow', null, { create: true })
  await begun
  child.kill('SIGTERM')
  assert.deepEqual(await gone, [null, 'SIGTERM'])
  const job = await server.client.waitJob(jobId)
  assert.deepEqual([job.state, job.result, job.attempt], ['completed', 'done', 1])
})

test('a signal waits for every worker, and leaves the end to an application that listens', async (t) => {
  const server = await startServer(t)
  const folder = project(t, {
    'package.json': '{"type":"module"}',
    'app.mjs': `
      import { startWorker } from ${JSON.stringify(join(root, 'dist/worker.js'))}
      const slow = (ms) => async () => {
        console.log('begun')
        await new Promise((resolve) => setTimeout(resolve, ms))
        return ms
      }
      const url = ${JSON.stringify(server.url)}
      const workers = Promise.all([startWorker({ url, processes: { short: slow(100) } }), startWorker({ url, processes: { long: slow(600) } })])
      if (process.argv[2] === 'listens') process.once('SIGTERM', async () => {
        await Promise.all((await workers).map(({ ended }) => ended))
        process.exit(7)
      })
    `,
  })
  for (const [args, expected] of [[[], [null, 'SIGTERM']], [['listens'], [7, null]]]) {
    const child = spawn(process.execPath, [join(folder, 'app.mjs'), ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => child.kill('SIGKILL'))
    let said = ''
    const begun = new Promise((resolve) => child.stdout.on('data', (text) => (said += text).split('begun').length > 2 && resolve()))
    const gone = new Promise((resolve) => child.once('exit', (code, how) => resolve([code, how])))
    const jobs = [await server.client.enqueue('short', null, { create: true }), await server.client.enqueue('long', null, { create: true })]
    await begun
    child.kill('SIGTERM')
    assert.deepEqual(await gone, expected)
    for (const { jobId } of jobs) assert.equal((await server.client.waitJob(jobId, { timeoutMs: 20_000 })).state, 'completed')
  }
})

test('the example of docs/guides/worker-in-an-application.md works', async (t) => {
  const server = await startServer(t)
  const [, example] = /```ts\n\/\/ app.ts\n([^]*?)```/.exec(readFileSync(join(root, '../../docs/guides/worker-in-an-application.md'), 'utf8'))
  const options = { strict: true, noEmit: true, target: 'es2022', module: 'nodenext', types: ['node'], skipLibCheck: true }
  const folder = project(
    t,
    {
      'package.json': '{"type":"module"}',
      'tsconfig.json': JSON.stringify({ compilerOptions: options }),
      'app.ts': example.replace('http://127.0.0.1:4600', server.url),
    },
    { tsx: 'tsx', '@types/node': '@types/node' },
  )
  symlinkSync(root, join(folder, 'node_modules/riverrun'))
  const checked = spawnSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' })
  assert.equal(checked.status, 0, checked.stdout)
  const child = spawn(process.execPath, ['--import', 'tsx', 'app.ts'], { cwd: folder, stdio: 'inherit' })
  t.after(() => child.kill('SIGKILL'))
  const { jobId } = await server.client.enqueue('resize', { width: 640 }, { create: true })
  assert.deepEqual((await server.client.waitJob(jobId, { timeoutMs: 20_000 })).result, { width: 640 })
  assert.equal(await server.client.call('greet', 'Ann'), 'Hello, Ann!')
})

test('a worker that cannot begin says why', async (t) => {
  const server = await startServer(t)
  const processes = { echo: (input) => input }
  await assert.rejects(startWorker({ url: 'http://127.0.0.1:1', processes }), { code: 'UNREACHABLE' })
  await assert.rejects(startWorker({ url: server.url, processes: {} }), { code: 'NO_PROCESSES' })
  await assert.rejects(startWorker({ url: server.url, processes: { a: 1 } }), { code: 'HANDLER_NOT_FOUND' })
  await assert.rejects(startWorker({ url: server.url, processes: { a: defineProcess(() => 1, { concurency: 3 }) } }), (error) => error.code === 'PROCESS_INVALID' && error.details.issues.length === 1)
  await assert.rejects(startWorker({ url: `${server.url}/elsewhere`, processes }), { code: 'NOT_FOUND' })
  const other = createServer((_, response) => response.end('hello'))
  await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve))
  t.after(() => other.close())
  await assert.rejects(startWorker({ url: `http://127.0.0.1:${other.address().port}`, processes }), { code: 'NOT_RIVERRUN' })
  await assert.rejects(startWorker({ url: server.url, processes, concurrency: 0 }), RangeError)
})

test('large inputs and results pass, and many at once', async (t) => {
  const server = await startServer(t)
  await work(t, server, { size: (input) => input.text.length, echo: (input) => input }, { concurrency: 64 })
  const text = 'ü'.repeat(300_000)
  assert.equal((await server.client.waitJob((await server.client.enqueue('size', { text })).jobId)).result, 300_000)
  const jobs = await server.client.enqueueMany('echo', Array.from({ length: 300 }, (_, data) => ({ data })))
  const results = await Promise.all(jobs.map(async ({ jobId }) => (await server.client.waitJob(jobId, { timeoutMs: 60_000 })).result))
  assert.deepEqual(results, Array.from({ length: 300 }, (_, n) => n))
})

/** A way to the server that can be cut. */
async function startProxy(t, url) {
  const { hostname, port } = new URL(url)
  const sockets = new Set()
  let isOpen = true
  const proxy = createProxy((near) => {
    if (!isOpen) return near.destroy()
    const far = connect(Number(port), hostname)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
    near.pipe(far)
    far.pipe(near)
  })
  await new Promise((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  return {
    url: `http://127.0.0.1:${proxy.address().port}`,
    open: () => (isOpen = true),
    cut() {
      isOpen = false
      for (const socket of sockets) socket.destroy()
    },
  }
}
