/** pg-boss on Postgres, with LISTEN/NOTIFY for new jobs where latency is measured. */

import { PgBoss } from 'pg-boss'
import { worker } from './children.mjs'
import { version } from './package.mjs'
import { postgres } from './postgres.mjs'
import { began, counted, ended } from './handler.mjs'

export async function start({ folder, reports }) {
  const url = await postgres(folder)
  const boss = await open(url)
  await boss.createQueue('noop')
  for (const name of ['timed', 'first', 'second', 'third']) await boss.createQueue(name, { notify: true })
  const { take } = await worker('pg-boss', { url }, reports)
  return {
    version: version('pg-boss'),
    take,
    close: () => boss.stop({ graceful: false }),
    timed: (data) => boss.send('timed', data),
    add: (data) => boss.send('noop', data),
    addMany: (jobs) => boss.insert('noop', jobs.map((data) => ({ data }))),
    chain: async (n) => {
      const end = reports.flowEnds(n)
      const job = (name, dependsOn) => ({ ref: name, name, data: { n }, ...(dependsOn && { dependsOn: [dependsOn] }) })
      await boss.flow([job('first'), job('second', 'first'), job('third', 'second')])
      await end
    },
  }
}

export const kinds = {
  timed: ({ url }) => work(url, { timed: (jobs) => jobs.forEach((job) => began(job.data.sent)) }, { batchSize: 50, localConcurrency: 4 }),
  noop: ({ url }) => work(url, { noop: (jobs) => jobs.forEach(counted) }, { batchSize: 100, localConcurrency: 4 }),
  // Jobs that depend on others are let go by a sweep, a second apart at best.
  chain: ({ url }) => {
    const third = (jobs) => jobs.forEach((job) => ended(job.data.n))
    return work(url, { first: () => {}, second: () => {}, third }, { batchSize: 200 }, { supervise: true, flowIntervalSeconds: 1 })
  },
}

async function work(url, handlers, options, more) {
  const boss = await open(url, more)
  const settings = { pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 0.5, burstWhenBatchFull: true, ...options }
  for (const [queue, handler] of Object.entries(handlers)) await boss.work(queue, settings, async (jobs) => handler(jobs))
  return () => boss.stop({ graceful: false })
}

async function open(url, more) {
  const boss = new PgBoss({ connectionString: url, schedule: false, supervise: false, useListenNotify: true, ...more })
  boss.on('error', (error) => console.error(error))
  await boss.start()
  return boss
}
