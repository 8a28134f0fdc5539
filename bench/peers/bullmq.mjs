/** BullMQ on a Redis that syncs its log once a second, which is what its documentation asks for. */

import { FlowProducer, Queue, Worker } from 'bullmq'
import { connect } from 'node:net'
import { once } from 'node:events'
import { freePort, server, worker } from './children.mjs'
import { version } from './package.mjs'
import { began, counted, ended } from './handler.mjs'

export async function start({ folder, reports }) {
  const port = await freePort()
  const settings = ['--port', port, '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'yes', '--appendfsync', 'everysec']
  await server(folder, 'redis-server', settings.map(String), {
    isReady: async () => {
      const socket = connect(port, '127.0.0.1')
      await once(socket, 'connect')
      socket.destroy()
      return true
    },
  })
  const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null }
  const options = { connection, defaultJobOptions: { removeOnComplete: true } }
  const [noop, timed, flows] = [new Queue('noop', options), new Queue('timed', options), new FlowProducer({ connection })]
  const job = (name, n, children) => ({ name, queueName: 'chain', data: { n }, children, opts: { removeOnComplete: true } })
  const { take } = await worker('bullmq', { connection }, reports)
  return {
    version: version('bullmq'),
    take,
    timed: (data) => timed.add('job', data),
    add: (data) => noop.add('job', data),
    addMany: (jobs) => noop.addBulk(jobs.map((data) => ({ name: 'job', data }))),
    chain: async (n) => {
      const end = reports.flowEnds(n)
      await flows.add(job('third', n, [job('second', n, [job('first', n)])]))
      await end
    },
  }
}

/** 16 and 256 were no faster, neither for drains nor for flows. */
const concurrency = 64

/** What its worker process does. */
export const kinds = {
  timed: ({ connection }) => work(connection, 'timed', async (job) => began(job.data.sent)),
  noop: ({ connection }) => work(connection, 'noop', async () => counted()),
  chain: ({ connection }) =>
    work(connection, 'chain', async () => {}, (job) => job.name === 'third' && ended(job.data.n)),
}

async function work(connection, queue, handler, completed = () => {}) {
  const worker = new Worker(queue, handler, { connection, concurrency })
  worker.on('completed', completed)
  await worker.waitUntilReady()
  return () => worker.close()
}
