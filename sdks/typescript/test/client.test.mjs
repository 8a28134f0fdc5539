import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CancelledError, HttpError, Riverrun, RiverrunError } from '../dist/index.js'
import { serve } from './played.mjs'

const sse = (...events) => events.map(({ id, type, ...data }) => `${id ? `id: ${id}\n` : ''}event: ${type}\ndata: ${JSON.stringify({ id, type, ...data })}\n\n`).join('')

test('jobs are enqueued, one or many', async (t) => {
  const { client, requests } = await serve(t, {
    'POST /api/queues/e%20mails/jobs': { jobs: [{ jobId: 'a', created: true }] },
    'POST /api/queues/emails/jobs': { jobs: [{ jobId: 'a', created: true }, { jobId: 'b', created: false }] },
  })
  assert.deepEqual(await client.enqueue('e mails', { to: 'ann' }, { name: 'hi', priority: 5, runAt: new Date(0) }), { jobId: 'a', created: true })
  assert.deepEqual(requests[0].body, { name: 'hi', data: { to: 'ann' }, options: { priority: 5, runAt: '1970-01-01T00:00:00.000Z' } })
  assert.equal(requests[0].headers.authorization, 'Bearer secret')
  const jobs = await client.enqueueMany('emails', [{ data: 1 }, { name: 'x', data: 2, options: { jobId: 'b' } }])
  assert.deepEqual(jobs.map(({ jobId }) => jobId), ['a', 'b'])
  assert.deepEqual(requests[1].body, { jobs: [{ data: 1 }, { name: 'x', data: 2, options: { jobId: 'b' } }] })
  assert.deepEqual(await client.enqueueMany('emails', []), [])
  await client.enqueue('e mails', 1, { create: true })
  assert.equal(requests[2].url, '/api/queues/e%20mails/jobs?create=true')
  assert.deepEqual(requests[2].body, { data: 1 })
})

test('lists are asked for with their filters', async (t) => {
  const { client, requests } = await serve(t, { 'GET /api/queues/q/jobs': { items: [{ id: 'a' }], nextCursor: 'c' }, 'GET /api/queues': { items: [{ name: 'q' }] } })
  const page = await client.jobs('q', { status: ['failed', 'active'], limit: 5, cursor: undefined })
  assert.equal(page.nextCursor, 'c')
  assert.equal(requests[0].url, '/api/queues/q/jobs?status=failed%2Cactive&limit=5')
  assert.deepEqual(await client.queues(), [{ name: 'q' }])
})

test('a queue is looked after', async (t) => {
  const { client, requests } = await serve(t, {
    'POST /api/queues/q/clear': { removed: 1 },
    'POST /api/queues/q/clean': { removed: 2 },
    'GET /api/queues/q/dlq': { items: [] },
    'POST /api/queues/q/dlq/redrive': { redriven: 3 },
    'POST /api/queues/q/dlq/purge': { removed: 4 },
  })
  assert.deepEqual(await client.drainQueue('q', { delayed: true }), { removed: 1 })
  assert.deepEqual(await client.cleanQueue('q', { status: 'failed', olderThanMs: 5 }), { removed: 2 })
  assert.deepEqual(await client.deadLetters('q', { limit: 1, filter: { code: 'SMTP', before: new Date(0) } }), { items: [] })
  assert.deepEqual(await client.redrive('q', { perSecond: 9 }), { redriven: 3 })
  assert.deepEqual(await client.purgeDeadLetters('q'), { removed: 4 })
  assert.deepEqual(requests.map(({ body }) => body), [{ delayed: true }, { status: 'failed', olderThanMs: 5 }, undefined, { perSecond: 9 }, {}])
})

test('the server\'s errors are thrown with their code', async (t) => {
  const { client, server } = await serve(t, {
    'POST /api/flows/x/start': (response) => {
      response.statusCode = 502
      response.end('<html>bad gateway</html>')
    },
  })
  await assert.rejects(client.run('nope'), (error) => error instanceof HttpError && error.code === 'NOT_FOUND' && error.status === 404 && error.details.url === '/api/runs/nope')
  await assert.rejects(client.start('x'), (error) => error.code === 'HTTP_502' && /bad gateway/.test(error.message))
  server.close()
  server.closeAllConnections()
  await assert.rejects(client.run('nope'), (error) => error instanceof RiverrunError && error.code === 'UNREACHABLE')
})

test('a request that takes too long is given up', async (t) => {
  const { client, requests } = await serve(t, { 'GET /api/runs/r': () => {} })
  const impatient = new Riverrun({ url: `http://${(await hostOf(client, requests))}`, timeoutMs: 50 })
  await assert.rejects(impatient.run('r'), { code: 'REQUEST_TIMEOUT' })
})

async function hostOf(client, requests) {
  await client.run('other').catch(() => {})
  return requests.at(-1).headers.host
}

test('a call gives its value, its frames, or its error', async (t) => {
  const { client, requests } = await serve(t, {
    'POST /api/runner/execute': (response, { headers, body }) => {
      if (headers.accept !== 'text/event-stream') return response.end(JSON.stringify({ value: body.input }))
      response.setHeader('content-type', 'text/event-stream')
      response.write('event: progress\ndata: {"pct":50}\n\n')
      if (body.input === 'fail') response.end('event: error\ndata: {"message":"no","code":"NO","retriable":false}\n\n')
      else if (body.input === 'stop') response.end('event: cancelled\ndata: {"reason":"timeout"}\n\n')
      else if (body.input === 'break') response.destroy()
      else response.end('event: result\ndata: {"value":42}\n\n')
    },
  })
  assert.equal(await client.call('double', 21, { timeoutMs: 1000 }), 21)
  assert.deepEqual(requests[0].body, { process: 'double', input: 21, timeoutMs: 1000 })
  const frames = []
  for await (const frame of client.frames('double', 21)) frames.push(frame)
  assert.deepEqual(frames, [{ type: 'progress', data: { pct: 50 } }, { type: 'result', data: { value: 42 } }])
  const seen = []
  assert.equal(await client.callWith('double', 21, (frame) => seen.push(frame.type)), 42)
  assert.deepEqual(seen, ['progress', 'result'])
  await assert.rejects(client.callWith('double', 'fail', () => {}), { code: 'NO', message: 'no', retriable: false })
  await assert.rejects(client.callWith('double', 'stop', () => {}), (error) => error instanceof CancelledError && error.reason === 'timeout')
  await assert.rejects(client.callWith('double', 'break', () => {}))
})

test('events are emitted, triggers opened, and runs asked why', async (t) => {
  const { client, requests } = await serve(t, {
    'POST /api/events': { stream: 'nq:global', ids: ['1-0'] },
    'POST /api/triggers/t%2F1': { runId: 'r' },
    'GET /api/runs/r/why': { status: 'waiting' },
  })
  assert.deepEqual(await client.emit({ type: 'paid', data: { id: 7 }, correlationId: 'c' }), { stream: 'nq:global', ids: ['1-0'] })
  assert.deepEqual(await client.fire('t/1', { yes: true }), { runId: 'r' })
  await client.fire('t/1')
  assert.deepEqual(await client.why('r'), { status: 'waiting' })
  assert.deepEqual(requests.map(({ body }) => body), [{ type: 'paid', data: { id: 7 }, correlationId: 'c' }, { yes: true }, {}, undefined])
})

test('leaving the frames of a call ends its connection', async (t) => {
  let closed
  const gone = new Promise((resolve) => (closed = resolve))
  const { client } = await serve(t, {
    'POST /api/runner/execute': (response) => {
      response.on('close', closed)
      response.write('event: progress\ndata: {"pct":1}\n\n')
    },
  })
  for await (const frame of client.frames('slow', 1)) {
    assert.equal(frame.type, 'progress')
    break
  }
  await gone
})

test('a subscription goes on after the last event it saw, over any number of connections', async (t) => {
  const connections = [
    'id: 5-0\nevent: emit\ndata: {"id":"5-0","type":"emit"}\n\nid: 5-1\nevent: emit\ndata: {"id":"5',
    ': riverrun\nretry: 10\n\n' + sse({ id: '5-1', type: 'emit' }, { id: '6-0', type: 'log.info' }),
    sse({ id: '7-0', type: 'emit', data: 'grüße 🌊' }).replaceAll('\n', '\r\n'),
  ]
  const { client, requests } = await serve(t, {
    'GET /api/events/nq%3Aglobal/tail': (response) => {
      const text = connections.shift()
      if (text === undefined) {
        response.statusCode = 503
        return response.end()
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      // In small pieces, so that characters and line ends are cut.
      for (const byte of Buffer.from('retry: 10\n\n' + text)) response.write(Buffer.of(byte))
      if (connections.length === 2) setTimeout(() => response.destroy(), 50)
      else response.end()
    },
  })
  const seen = []
  let reconnects = 0
  for await (const event of client.subscribe('nq:global', { from: '4-9', types: ['emit', 'log'], onReconnect: () => reconnects++ })) {
    seen.push(event.id)
    if (event.id === '7-0') {
      assert.equal(event.data, 'grüße 🌊')
      break
    }
  }
  assert.deepEqual(seen, ['5-0', '5-1', '6-0', '7-0'])
  assert.equal(reconnects, 2)
  assert.deepEqual(requests.map(({ url, headers }) => [url, headers['last-event-id']]), [
    ['/api/events/nq%3Aglobal/tail?from=4-9&type=emit%2Clog', undefined],
    ['/api/events/nq%3Aglobal/tail?type=emit%2Clog', '5-0'],
    ['/api/events/nq%3Aglobal/tail?type=emit%2Clog', '6-0'],
  ])
})

test('a subscription from the end goes on from where the stream stood', async (t) => {
  let tries = 0
  const { client, requests } = await serve(t, {
    'GET /api/events/nq%3Aglobal/tail': (response) => {
      tries += 1
      if (tries === 1) response.end('retry: 10\nid: 8-3\n\n')
      else response.write(sse({ id: '8-4', type: 'emit' }))
    },
  })
  const events = client.subscribe('nq:global', { from: 'end' })
  assert.equal((await events.next()).value.id, '8-4')
  await events.return()
  assert.equal(requests[1].headers['last-event-id'], '8-3')
})

test('events of a kind go on from their cursor', async (t) => {
  let tries = 0
  const numbered = (n) => `id: ${n}\nevent: order.paid\ndata: ${JSON.stringify({ id: `${n}-0`, type: 'order.paid', stream: 'nq:global', cursor: String(n) })}\n\n`
  const { client, requests } = await serve(t, {
    'GET /api/events': (response) => {
      tries += 1
      if (tries === 1) response.end('retry: 10\nid: 7\n\n')
      else if (tries === 2) response.end(`${numbered(8)}: alive\nid: 20\n\n`)
      else response.write(numbered(21))
    },
  })
  const seen = []
  for await (const { cursor, stream } of client.onKind(['order.paid', 'flow'], { from: '5' })) {
    seen.push(`${stream} ${cursor}`)
    if (seen.length === 2) break
  }
  assert.deepEqual(seen, ['nq:global 8', 'nq:global 21'])
  assert.deepEqual(requests.map(({ url, headers }) => [url, headers['last-event-id']]), [
    ['/api/events?type=order.paid%2Cflow&from=5', undefined],
    ['/api/events?type=order.paid%2Cflow', '7'],
    ['/api/events?type=order.paid%2Cflow', '20'],
  ])
})

test('a subscription waits for a server that restarts, and gives up on what cannot be', async (t) => {
  let tries = 0
  const { client } = await serve(t, {
    'GET /api/runs/r/stream': (response) => {
      tries += 1
      response.statusCode = tries < 3 ? 503 : 200
      response.end(tries < 3 ? '' : sse({ id: '1-0', type: 'flow.started' }, { id: '1-1', type: 'flow.completed' }))
    },
  })
  const types = []
  for await (const { type } of client.follow('r', { follow: 'until-end' })) types.push(type)
  assert.deepEqual(types, ['flow.started', 'flow.completed'])
  await assert.rejects(client.follow('unknown').next(), { code: 'NOT_FOUND' })
})

test('a run that had ended before is over at once', async (t) => {
  const { client } = await serve(t, { 'GET /api/runs/r/stream': (response) => response.end() })
  assert.deepEqual(await client.follow('r', { follow: 'until-end', from: '9-9' }).next(), { done: true, value: undefined })
})

test('wait gives the run once it has ended; a limit ends the wait', async (t) => {
  const { client } = await serve(t, {
    'GET /api/runs/r/stream': (response, { url }) => {
      assert.match(url, /follow=until-end/)
      response.end(sse({ id: '1-1', type: 'flow.failed' }))
    },
    'GET /api/runs/r': { runId: 'r', status: 'failed' },
    'GET /api/runs/slow/stream': (response) => response.write(': riverrun\n\n'),
  })
  assert.equal((await client.wait('r')).status, 'failed')
  await assert.rejects(client.wait('slow', { timeoutMs: 50 }), { code: 'TIMEOUT' })
})

test('a job is waited for by its stream', async (t) => {
  const { client, requests } = await serve(t, {
    'GET /api/events/job/j/stream': (response, { url }) => {
      assert.match(url, /from=end&type=.*job.completed.*&follow=until-end/)
      response.end('id: 1-1\n\n' + sse({ id: '1-2', type: 'job.completed' }))
    },
    'GET /api/jobs/j': { id: 'j', state: 'completed', result: 7 },
    'GET /api/events/job/slow/stream': (response) => response.write(': riverrun\n\n'),
  })
  assert.equal((await client.waitJob('j')).result, 7)
  assert.equal(requests.length, 2)
  await assert.rejects(client.waitJob('slow', { timeoutMs: 50 }), { code: 'TIMEOUT', message: /job slow/ })
  await assert.rejects(client.waitJob('gone'), { code: 'NOT_FOUND' })
})

test('a job that began anew is followed to its new end', async (t) => {
  const connections = [
    [{ id: '1-0', type: 'job.added' }, { id: '1-1', type: 'job.failed' }, { id: '2-2', type: 'job.waiting' }],
    [{ id: '2-3', type: 'job.active' }, { id: '2-4', type: 'job.completed' }],
  ]
  const { client, requests } = await serve(t, {
    'GET /api/events/job/j/stream': (response) => response.end('retry: 10\n\n' + sse(...connections.shift())),
  })
  const types = []
  for await (const { type } of client.followJob('j', { follow: 'until-end' })) types.push(type)
  assert.deepEqual(types, ['job.added', 'job.failed', 'job.waiting', 'job.active', 'job.completed'])
  assert.equal(requests[1].headers['last-event-id'], '2-2')
})

test('a reader of a queue gets what it missed', async (t) => {
  const connections = [
    sse({ id: '5-0', type: 'job.added', runId: 'a' }),
    'event: stream.missed\ndata: {"after":"5-0"}\n\n' + sse({ id: '6-7', type: 'job.active', runId: 'b' }),
  ]
  const { client } = await serve(t, {
    'GET /api/events/queue/e%20mails/stream': (response) => response.end('retry: 10\n\n' + (connections.shift() ?? '')),
  })
  const missed = []
  const seen = []
  for await (const { id } of client.followQueue('e mails', { onMissed: (what) => missed.push(what) })) {
    seen.push(id)
    if (seen.length === 2) break
  }
  assert.deepEqual(seen, ['5-0', '6-7'])
  assert.deepEqual(missed, [{ after: '5-0' }])
})

test('jobs are steered', async (t) => {
  const { client, requests } = await serve(t, {
    'PATCH /api/jobs/j': { id: 'j', priority: 5 },
    'DELETE /api/jobs/j': (response) => {
      response.statusCode = 204
      response.end()
    },
    'POST /api/jobs/j/retry': {},
    'POST /api/jobs/j/cancel': {},
    'POST /api/jobs/j/promote': {},
    'POST /api/queues/q/pause': {},
    'POST /api/queues/q/resume': {},
  })
  assert.equal((await client.updateJob('j', { priority: 5, delayMs: 9 })).priority, 5)
  assert.equal(await client.removeJob('j'), undefined)
  await client.retryJob('j')
  await client.cancelJob('j', 'why')
  await client.promoteJob('j')
  await client.pauseQueue('q')
  await client.resumeQueue('q')
  assert.deepEqual(requests.map(({ method, body }) => [method, body]), [
    ['PATCH', { priority: 5, delayMs: 9 }],
    ['DELETE', undefined],
    ['POST', {}],
    ['POST', { reason: 'why' }],
    ['POST', {}],
    ['POST', {}],
    ['POST', {}],
  ])
})

test('a connection on which nothing comes is given up', async (t) => {
  let tries = 0
  const { client } = await serve(t, {
    'GET /api/runs/r/stream': (response) => {
      tries += 1
      response.write('retry: 10\n\n')
      if (tries === 2) response.end(sse({ id: '1-1', type: 'flow.completed' }))
    },
  })
  const first = await client.follow('r', { idleMs: 60 }).next()
  assert.equal(first.value.type, 'flow.completed')
  assert.equal(tries, 2)
})

test('an aborted subscription stops with the reason', async (t) => {
  const { client } = await serve(t, { 'GET /api/runs/r/stream': (response) => response.write(': riverrun\n\n') })
  const abort = new AbortController()
  const next = client.follow('r', { signal: abort.signal }).next()
  setTimeout(() => abort.abort(new Error('enough')), 30)
  await assert.rejects(next, /enough/)
})

test('a run is watched to its end', async (t) => {
  const { client } = await serve(t, {
    'GET /api/runs/r/stream': (response) => response.end(sse(
      { id: '1-0', ts: 'a', type: 'flow.started', runId: 'r', flowName: 'f', data: { input: {}, version: '1', next: 'one' } },
      { id: '1-1', ts: 'b', type: 'state.set', runId: 'r', flowName: 'f', data: { key: 'k', value: 1 } },
      { id: '1-2', ts: 'c', type: 'flow.completed', runId: 'r', flowName: 'f', data: { result: 1, duration: 1 } },
    )),
  })
  const views = []
  for await (const run of client.watch('r')) views.push([run.status, run.state])
  assert.deepEqual(views, [['pending', {}], ['pending', { k: 1 }], ['completed', { k: 1 }]])
})
