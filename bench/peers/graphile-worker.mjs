/** graphile-worker on Postgres. It has no flows. */

import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import { worker } from './children.mjs'
import { version } from './package.mjs'
import { postgres } from './postgres.mjs'
import { began, counted } from './handler.mjs'

const logger = new Logger(() => () => {})

export async function start({ folder, reports }) {
  const url = await postgres(folder)
  const pgPool = pool(url)
  const jobs = await makeWorkerUtils({ pgPool, logger })
  await jobs.migrate()
  const { take } = await worker('graphile-worker', { url }, reports)
  return {
    version: version('graphile-worker'),
    take,
    close: () => pgPool.end(),
    timed: (data) => jobs.addJob('timed', data),
    add: (data) => jobs.addJob('noop', data),
    addMany: (list) => jobs.addJobs(list.map((payload) => ({ identifier: 'noop', payload }))),
  }
}

export const kinds = {
  timed: ({ url }) => work(url, { timed: async (data) => began(data.sent) }),
  // Fetching and completing many at once is what makes it fast.
  noop: ({ url }) => work(url, { noop: async () => counted() }, { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 }),
}

async function work(url, taskList, more) {
  const preset = { worker: { concurrentJobs: 24, pollInterval: 500, ...more } }
  const runner = await run({ pgPool: pool(url), logger, taskList, noHandleSignals: true, preset })
  return () => runner.stop()
}

function pool(connectionString) {
  const pool = new pg.Pool({ connectionString, max: 26 })
  const ignore = () => {}
  pool.on('error', ignore).on('connect', (client) => client.on('error', ignore))
  return pool
}
