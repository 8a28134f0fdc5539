/** riverrun: the release binary and its TypeScript client, its handlers in the Node process that it starts. */

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { Riverrun } from '../../sdks/typescript/dist/index.js'
import { freePort, server } from './children.mjs'
import { client, isHealthy } from './http.mjs'

export async function start({ folder, binary, reports }) {
  const port = await freePort()
  const project = join(import.meta.dirname, 'riverrun')
  await server(folder, binary, ['serve', '--project', project, '--listen', `127.0.0.1:${port}`, '--data', join(folder, 'data')], {
    env: { ...process.env, PEERS_PORT: String(reports.port) },
    // It ends its own Node process, whose processor time then counts as ours.
    signal: 'SIGTERM',
    isReady: () => isHealthy(`http://127.0.0.1:${port}/readyz`),
  })
  const post = client(port)
  const riverrun = new Riverrun({ url: `http://127.0.0.1:${port}` })
  const run = (flow) => async (n) => {
    const ended = JSON.parse(await post(`/api/flows/${flow}/start?wait=60000`, { input: { n } }))
    if (ended.status !== 'completed') throw new Error(`a run of ${flow} is ${ended.status}`)
  }
  await post('/api/queue/noop/pause', {})
  return {
    version: execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim().split(' ').pop(),
    take: async (kind) => kind === 'noop' && post('/api/queue/noop/resume', {}),
    timed: (data) => riverrun.enqueue('timed', data),
    add: (data) => riverrun.enqueue('noop', data),
    addMany: (jobs) => riverrun.enqueueMany('noop', jobs.map((data) => ({ data }))),
    chain: run('chain'),
    code: run('code'),
  }
}
