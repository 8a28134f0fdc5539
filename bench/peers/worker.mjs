/** A worker process: `node worker.mjs <module> <settings>` does the work of a peer, one kind at a time. */

const [module, settings] = process.argv.slice(2)
const { kinds } = await import(`./${module}.mjs`)
let leave

process.on('message', async (kind) => {
  await leave?.()
  leave = await kinds[kind]?.(JSON.parse(settings))
  process.send('taken')
})
process.on('disconnect', () => process.exit())
process.on('unhandledRejection', (error) => {
  console.error(error)
  process.exit(1)
})
process.send('ready')
