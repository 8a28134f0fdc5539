import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HttpError, Riverrun, RiverrunError } from '../dist/index.js'
import { serve } from './played.mjs'
import { signal, startServer } from './server.mjs'

const path = 'POST /api/queues/q/jobs'

/** The jobs of a request, one or many. */
const jobsOf = ({ body }) => body.jobs ?? [body]

/** Takes every job; its id is its data. */
const take = (response, asked) => response.end(JSON.stringify({ jobs: jobsOf(asked).map(({ data }) => ({ jobId: String(data), created: true })) }))

/** Takes a request without a bad job. */
function judge(response, asked) {
  if (!jobsOf(asked).some(({ data }) => data === 'bad')) return take(response, asked)
  response.statusCode = 422
  response.end(JSON.stringify({ error: { code: 'INPUT_INVALID', message: `one of ${jobsOf(asked).length}` } }))
}

const settled = (calls) => Promise.allSettled(calls).then((all) => all.map(({ value, reason }) => value?.jobId ?? reason))

test('jobs that are added side by side share a request, and each call has its own job', async (t) => {
  const { client, requests } = await serve(t, { [path]: take, 'POST /api/queues/other/jobs': take })
  const data = { n: 1 }
  const calls = [1, 2, 3].map((n) => client.enqueue('q', n, n === 2 ? { priority: 5 } : undefined))
  calls.push(client.enqueue('other', 4), client.enqueue('q', data))
  data.n = 2
  assert.deepEqual(await settled(calls), ['1', '2', '3', '4', '[object Object]'])
  const bodies = requests.map(({ url, body }) => [url, body]).sort()
  assert.deepEqual(bodies, [
    ['/api/queues/other/jobs', { data: 4 }],
    ['/api/queues/q/jobs', { jobs: [{ data: 1 }, { data: 2, options: { priority: 5 } }, { data: 3 }, { data: { n: 1 } }] }],
  ])
})

test('jobs that come while requests are under way wait for one of them', async (t) => {
  const [came, open] = [signal(), signal()]
  let requests = 0
  const { client, requests: asked } = await serve(t, {
    [path]: async (response, request) => {
      requests += 1
      if (requests === 2) came.settle()
      if (requests <= 2) await open
      take(response, request)
    },
  })
  const calls = [client.enqueue('q', 1)]
  await null
  calls.push(client.enqueue('q', 2))
  await came
  for (let n = 3; n <= 700; n++) calls.push(client.enqueue('q', n))
  await null
  assert.equal(asked.length, 2)
  open.settle()
  assert.deepEqual(await settled(calls), Array.from({ length: 700 }, (_, n) => String(n + 1)))
  assert.deepEqual(asked.map((request) => jobsOf(request).length).sort(), [1, 1, 198, 500].sort())
})

test('a job that is refused is refused alone', async (t) => {
  const { client, requests } = await serve(t, { [path]: judge })
  const data = Array.from({ length: 16 }, (_, n) => (n === 11 ? 'bad' : n))
  const found = await settled(data.map((one) => client.enqueue('q', one)))
  const [error] = found.splice(11, 1)
  assert.ok(error instanceof HttpError)
  assert.deepEqual([error.status, error.code, error.message], [422, 'INPUT_INVALID', 'one of 1'])
  assert.deepEqual(found, data.filter((one) => one !== 'bad').map(String))
  assert.ok(requests.length < 12, `${requests.length} requests`)
})

test('what is not about a job is reported to every call', async (t) => {
  const { client, requests, server } = await serve(t, {})
  const codes = async () => (await settled([1, 2, 3].map((n) => client.enqueue('q', n)))).map(({ code }) => code)
  assert.deepEqual(await codes(), ['NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND'])
  assert.equal(requests.length, 1)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  assert.deepEqual(await codes(), ['UNREACHABLE', 'UNREACHABLE', 'UNREACHABLE'])
})

test('data that is no JSON is the error of its own call', async (t) => {
  const { client } = await serve(t, { [path]: take })
  const [first, bad, last] = await settled([client.enqueue('q', 1), client.enqueue('q', 1n), client.enqueue('q', 2)])
  assert.deepEqual([first, last], ['1', '2'])
  assert.ok(bad instanceof TypeError)
})

for (const [name, options] of [['node:http', {}], ['fetch', { fetch: globalThis.fetch }]]) {
  test(`over ${name}, answers, errors, limits and signals are the same`, async (t) => {
    const abort = new AbortController()
    const { client, requests, server } = await serve(
      t,
      {
        'GET /api/runs/gr%C3%BC%C3%9Fe': { runId: 'grüße 🌊' },
        'GET /api/runs/slow': () => {},
        'POST /api/runner/execute': () => abort.abort(new Error('enough')),
        'GET /api/runs/cut': (response) => {
          response.writeHead(200, { 'content-length': 10 })
          response.write('{')
          setImmediate(() => response.destroy())
        },
        'DELETE /api/runs/r': (response) => response.writeHead(204).end(),
      },
      { ...options, timeoutMs: 200, headers: { 'x-mine': 'yes' } },
    )
    assert.deepEqual(await client.run('grüße'), { runId: 'grüße 🌊' })
    assert.equal(requests[0].headers['x-mine'], 'yes')
    assert.equal(await client.deleteRun('r'), undefined)
    await assert.rejects(client.run('none'), { status: 404, code: 'NOT_FOUND', message: 'nothing there' })
    await assert.rejects(client.run('slow'), { code: 'REQUEST_TIMEOUT', message: 'GET /api/runs/slow took longer than 200 ms' })
    await assert.rejects(client.run('cut'), (error) => error.code === 'UNREACHABLE' && error.cause instanceof Error)
    // While it runs, and before it begins.
    for (let n = 0; n < 2; n++) await assert.rejects(client.call('p', 1, { signal: abort.signal, timeoutMs: 5_000 }), /enough/)
    const { port } = server.address()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await assert.rejects(client.run('r'), { code: 'UNREACHABLE', message: new RegExp(`^http://127.0.0.1:${port} cannot be reached: .+`) })
  })
}

test('what is no URL of a server is reported', () => {
  for (const url of ['localhost:4600', '127.0.0.1:4600', 'ftp://here']) {
    assert.throws(() => new Riverrun({ url }), (error) => error instanceof RiverrunError && error.code === 'URL_INVALID')
  }
})

test('a body over the limit of the server is TOO_LARGE', async (t) => {
  const { url } = await startServer(t)
  for (const options of [{ url }, { url, fetch: globalThis.fetch }]) {
    const client = new Riverrun(options)
    for (let n = 0; n < 3; n++) {
      await assert.rejects(client.enqueue('q', 'x'.repeat(20e6), { create: true }), { status: 413, code: 'TOO_LARGE' })
    }
    assert.equal((await client.enqueue('q', 1, { create: true })).created, true)
  }
})
