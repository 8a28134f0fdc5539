/** Who is compared. `module` is the file that knows how it is used. */

const durablePostgres = 'the commit of every job (`fsync` and `synchronous_commit` are on)'
const restateLog = 'its log, with every job, step and outcome'

export const ours = {
  id: 'riverrun',
  title: 'riverrun',
  module: 'riverrun',
  lacks: [],
  syncs: 'every job, step and outcome; what comes together shares a sync',
}

export const peers = [
  {
    id: 'bullmq',
    title: 'BullMQ',
    module: 'bullmq',
    lacks: ['code'],
    syncs: 'nothing: Redis syncs its log once a second, and a machine that fails loses what came since',
  },
  { id: 'pg-boss', title: 'pg-boss', module: 'pg-boss', lacks: ['code'], syncs: durablePostgres },
  { id: 'graphile-worker', title: 'graphile-worker', module: 'graphile-worker', lacks: ['chain', 'code'], syncs: durablePostgres },
  { id: 'restate', title: 'Restate', module: 'restate', lacks: ['chain', 'addMany'], syncs: restateLog },
  {
    id: 'restate-4',
    title: 'Restate, 4 partitions',
    module: 'restate',
    options: { partitions: 4 },
    lacks: ['chain', 'addMany'],
    syncs: restateLog,
  },
]
