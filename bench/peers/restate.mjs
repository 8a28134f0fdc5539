/** Restate: its server over HTTP, a service with its TypeScript SDK in a Node process. */

import * as restate from '@restatedev/restate-sdk'
import { createServer } from 'node:http2'
import { createRequire } from 'node:module'
import { freePort, server, worker } from './children.mjs'
import { client, isHealthy } from './http.mjs'
import { version } from './package.mjs'
import { began, counted } from './handler.mjs'

// Its own start script would outlive a kill.
const program = createRequire(import.meta.url).resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`)

export async function start({ folder, reports, partitions }) {
  const [node, ingress, admin, service] = await Promise.all(Array.from({ length: 4 }, freePort))
  const url = (port) => `http://127.0.0.1:${port}`
  await server(folder, program, ['--no-logo'], {
    env: {
      ...process.env,
      RESTATE_BASE_DIR: folder,
      RESTATE_NODE_NAME: 'peer',
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_BIND_IP: '127.0.0.1',
      RESTATE_ADVERTISED_HOST: '127.0.0.1',
      RESTATE_BIND_PORT: String(node),
      RESTATE_INGRESS__BIND_PORT: String(ingress),
      RESTATE_ADMIN__BIND_PORT: String(admin),
      RESTATE_LOG_FILTER: 'warn',
      RESTATE_DISABLE_TELEMETRY: 'true',
      ...(partitions && { RESTATE_DEFAULT_NUM_PARTITIONS: String(partitions) }),
    },
    isReady: async () => (await isHealthy(`${url(admin)}/health`)) && isHealthy(`${url(ingress)}/restate/health`),
  })
  const { take } = await worker('restate', { port: service }, reports)
  await take('service')
  await client(admin)('/deployments', { uri: url(service) })
  const post = client(ingress)
  return {
    version: version('@restatedev/restate-server'),
    // It has no way to hold jobs back: they are worked on while others are added.
    take: async () => {},
    timed: (data) => post('/work/timed/send', data),
    add: (data) => post('/work/noop/send', data),
    code: (n) => post('/work/code', { n }),
  }
}

const work = restate.service({
  name: 'work',
  handlers: {
    timed: async (_, data) => began(data.sent),
    noop: async () => counted(),
    code: async (ctx) => {
      const a = await ctx.run('a', () => 1)
      const b = await ctx.run('b', () => a + 1)
      return ctx.run('c', () => b + 1)
    },
  },
})

export const kinds = {
  service: ({ port }) =>
    new Promise((resolve) => {
      const handler = restate.createEndpointHandler({ services: [work], logger: () => {} })
      createServer(handler).listen(port, '127.0.0.1', () => resolve())
    }),
}
