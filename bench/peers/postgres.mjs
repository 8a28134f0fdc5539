/** A Postgres of its own for a turn, with its durable defaults: `fsync` and `synchronous_commit` are on. */

import { execFileSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { freePort, server } from './children.mjs'

/** Starts it and gives the URL of an empty database. */
export async function postgres(folder) {
  const data = join(folder, 'data')
  mkdirSync(data)
  const port = await freePort()
  const user = notRoot()
  if (user.uid) chownSync(data, user.uid, user.gid)
  const [initdb, program] = ['initdb', 'postgres'].map(find)
  execFileSync(initdb, ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync'], { ...user, cwd: data, stdio: 'ignore' })
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=']
  await server(folder, program, ['-D', data, ...settings.flatMap((setting) => ['-c', setting])], {
    ...user,
    cwd: data,
    signal: 'SIGQUIT',
    isReady: () => answers(url),
  })
  return url
}

export async function version() {
  return execFileSync(find('postgres'), ['--version'], { encoding: 'utf8' }).split(' ')[2]
}

/** Postgres refuses to run as root. */
function notRoot() {
  if (process.getuid() !== 0) return {}
  const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

/** Debian keeps its programs off PATH. */
function find(program) {
  const kept = '/usr/lib/postgresql'
  const versions = existsSync(kept) ? readdirSync(kept).sort((a, b) => Number(b) - Number(a)) : []
  const found = versions.map((version) => join(kept, version, 'bin', program)).find(existsSync)
  return found ?? program
}

async function answers(url) {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  await client.end()
  return true
}
