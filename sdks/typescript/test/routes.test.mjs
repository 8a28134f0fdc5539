import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Riverrun } from '../dist/index.js'
import { root } from './support.mjs'

const document = join(root, '../../crates/api/tests/it/snapshots/it__openapi__the_document_lists_every_route.snap')
const routes = readFileSync(document, 'utf8')
  .split('\n')
  .filter((line) => line.includes(' — '))
  .map((line) => line.split(' — ')[0].replace(/\{\w+\}/g, '{}'))

/** For browsers, other programs and people, or the same as another route. */
const notForClients = [
  /^GET \/(api\/(docs|openapi|schemas|handlers|executions)|approve|healthz|readyz|$)/,
  /\/ws$/,
  /^POST \/approve\//,
  /^[A-Z]+ \/hooks\//,
  /^(GET|POST) \/api\/flows\/\{\}\/runs/,
  /^POST \/api\/flows\/triggers/,
  /^POST \/api\/runs\/import/,
  /^GET \/api\/runs\/\{\}\/(jobs|awaits)/,
  /^GET \/api\/events\/\{\}\/(list|\{\})$/,
  // For jobs that no path can name.
  /^DELETE \/api\/jobs$/,
  // onKind follows it.
  /^GET \/api\/events$/,
]

/** A use of each method, and what it asks for. */
const uses = [
  ['POST /api/queues/{}/jobs', (c) => c.enqueue('q', 1, { idempotency: { key: 'k', windowMs: 5 } })],
  ['POST /api/queues/{}/jobs', (c) => c.enqueueMany('q', [{ data: 1 }])],
  ['GET /api/jobs/{}', (c) => c.job('j')],
  ['GET /api/queues/{}/jobs', (c) => c.jobs('q', { tag: 't', name: 'n', key: 'k' })],
  ['GET /api/jobs', (c) => c.findJobs({ tag: 't' })],
  ['GET /api/jobs', (c) => c.runJobs({ stalled: true })],
  ['POST /api/jobs/{}/retry', (c) => c.retryJob('j')],
  ['POST /api/jobs/{}/cancel', (c) => c.cancelJob('j', 'no')],
  ['POST /api/jobs/{}/promote', (c) => c.promoteJob('j')],
  ['PATCH /api/jobs/{}', (c) => c.updateJob('j', { priority: 1 })],
  ['DELETE /api/jobs/{}', (c) => c.removeJob('j')],
  ['GET /api/queues', (c) => c.queues()],
  ['GET /api/queues/{}', (c) => c.queue('q')],
  ['POST /api/queues/{}/pause', (c) => c.pauseQueue('q')],
  ['POST /api/queues/{}/resume', (c) => c.resumeQueue('q')],
  ['POST /api/queues/{}/clear', (c) => c.clearQueue('q')],
  ['POST /api/queues/{}/clean', (c) => c.cleanQueue('q', { filter: { tag: 't' } })],
  ['GET /api/queues/{}/dlq', (c) => c.deadLetters('q')],
  ['POST /api/queues/{}/dlq/redrive', (c) => c.redrive('q', { filter: { code: 'X', before: new Date(0) } })],
  ['POST /api/queues/{}/dlq/purge', (c) => c.purgeDeadLetters('q')],
  ['POST /api/runner/execute', (c) => c.call('p', 1, { callId: 'c', persistFrames: false })],
  ['POST /api/flows/{}/start', (c) => c.start('f')],
  ['POST /api/flows/{}/start', (c) => c.startAndWait('f', {}, { timeoutMs: 1000 })],
  ['GET /api/runs/{}', (c) => c.run('r')],
  ['GET /api/runs', (c) => c.runs({ flow: 'f', status: ['failed'], since: new Date(0), order: 'asc' })],
  ['GET /api/runs/{}/state', (c) => c.state('r', { at: '1-0' })],
  ['GET /api/runs/{}/history', (c) => c.history('r')],
  ['GET /api/stories/{}', (c) => c.story('o-1', { limit: 10 })],
  ['GET /api/events/unheard', (c) => c.unheard()],
  ['GET /api/awaits', (c) => c.awaits()],
  ['GET /api/runs/{}/children', (c) => c.children('r')],
  ['GET /api/runs/{}/events', (c) => c.events('r', { order: 'desc' })],
  ['GET /api/events/{}', (c) => c.streamEvents('nq:global')],
  ['GET /api/runs/{}/why', (c) => c.why('r')],
  ['POST /api/triggers/{}', (c) => c.fire('t', { a: 1 }, { secret: 's' })],
  ['POST /api/runs/{}/cancel', (c) => c.cancel('r')],
  ['POST /api/runs/{}/pause', (c) => c.pause('r', 'lunch')],
  ['POST /api/runs/{}/resume', (c) => c.resume('r')],
  ['POST /api/runs/{}/rerun', (c) => c.rerun('r', { input: { a: 1 }, latest: true })],
  ['POST /api/runs/{}/fork', (c) => c.fork('r', { at: '1-0' })],
  ['DELETE /api/runs/{}', (c) => c.deleteRun('r')],
  ['POST /api/events', (c) => c.emit({ type: 'x' })],
  ['POST /api/events/{}/{}', (c) => c.append('webhook', 'w', [{ type: 'x' }])],
  ['GET /api/processes', (c) => c.processes()],
  ['GET /api/version', (c) => c.version()],
  ['GET /api/flows', (c) => c.flows.list()],
  ['GET /api/flows/{}', (c) => c.flows.get('f', { version: '1.0.0' })],
  ['GET /api/flows/{}/versions', (c) => c.flows.versions('f')],
  ['POST /api/flows', (c) => c.flows.register({ id: 'f' })],
  ['POST /api/flows/validate', (c) => c.flows.validate({ id: 'f' })],
  ['GET /api/flows/{}/diagram', (c) => c.flows.diagram('f')],
  ['GET /api/triggers', (c) => c.triggers.list({ type: 'http' })],
  ['GET /api/triggers/{}', (c) => c.triggers.get('t')],
  ['POST /api/triggers', (c) => c.triggers.create({ id: 't', type: 'schedule', flow: 'f', config: { everyMs: 1000 } })],
  ['PATCH /api/triggers/{}', (c) => c.triggers.update('t', { inputMap: null })],
  ['DELETE /api/triggers/{}', (c) => c.triggers.remove('t')],
  ['POST /api/triggers/{}/enable', (c) => c.triggers.enable('t')],
  ['POST /api/triggers/{}/disable', (c) => c.triggers.disable('t')],
  ['POST /api/triggers/{}/fire', (c) => c.triggers.fire('t', 1, { source: 'me' })],
  ['GET /api/triggers/{}/history', (c) => c.triggers.history('t')],
  ['GET /api/triggers/{}/stats', (c) => c.triggers.stats('t')],
  ['GET /api/schedules', (c) => c.schedules.list()],
  ['POST /api/schedules/{}/backfill', (c) => c.schedules.backfill('t', { from: new Date(0), to: 1 })],
  ['GET /api/workers', (c) => c.workers.list()],
  ['POST /api/workers/{}/drain', (c) => c.workers.drain(1, { graceMs: 5 })],
]

/** `follow`, `followJob`, `followQueue` and `subscribe` read these. */
const followed = ['GET /api/runs/{}/stream', 'GET /api/events/{}/{}/stream', 'GET /api/events/{}/tail']

const answer = { items: [], jobs: [{ jobId: 'j', created: true }], runId: 'r', endedAt: 'now' }

function recorder() {
  const asked = []
  const fetch = async (url, init) => {
    const { pathname, search } = new URL(url)
    asked.push({ method: init.method, path: pathname, query: decodeURIComponent(search), headers: init.headers, body: init.body && JSON.parse(init.body) })
    return new Response(JSON.stringify(answer))
  }
  return { asked, client: new Riverrun({ url: 'http://127.0.0.1:1', fetch }) }
}

test('the client knows every route of the server', () => {
  const known = new Set([...uses.map(([route]) => route), ...followed])
  for (const route of known) assert.ok(routes.includes(route), `the server has no ${route}`)
  assert.deepEqual(routes.filter((route) => !known.has(route) && !notForClients.some((one) => one.test(route))), [])
})

test('each method asks for its route', async () => {
  const { asked, client } = recorder()
  for (const [route, use] of uses) {
    await use(client)
    const [method, path] = route.split(' ')
    assert.equal(asked.at(-1).method, method, route)
    assert.match(asked.at(-1).path, new RegExp(`^${path.replaceAll('{}', '[^/]+')}$`))
  }
  const bodyOf = (route) => asked[uses.findIndex(([one]) => one === route)]
  assert.deepEqual(bodyOf('POST /api/queues/{}/jobs').body, { data: 1, options: { idempotency: { key: 'k', windowMs: 5 } } })
  assert.deepEqual(bodyOf('POST /api/queues/{}/dlq/redrive').body, { filter: { code: 'X', before: '1970-01-01T00:00:00.000Z' } })
  assert.deepEqual(bodyOf('POST /api/runner/execute').body, { process: 'p', input: 1, callId: 'c', persistFrames: false })
  assert.equal(bodyOf('GET /api/jobs').query, '?queue=*&tag=t')
  assert.equal(bodyOf('GET /api/runs').query, '?flow=f&status=failed&since=1970-01-01T00:00:00.000Z&order=asc')
  // What the server would compute with the same secret.
  assert.equal(bodyOf('POST /api/triggers/{}').headers['x-riverrun-signature'], 'sha256=' + (await hmac('s', '{"a":1}')))
})

async function hmac(secret, body) {
  const { createHmac } = await import('node:crypto')
  return createHmac('sha256', secret).update(body).digest('hex')
}
