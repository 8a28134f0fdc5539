#!/usr/bin/env node
/**
 * Measures riverrun and its peers in turns: before every turn of a peer there is one of riverrun.
 * `bench/README.md` says what is measured and how to read it.
 */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { measures } from './measures.mjs'
import { ours, peers } from './peers.mjs'
import { page, tables } from './report.mjs'
import { quiet, watchOthers } from './usage.mjs'

const root = resolve(import.meta.dirname, '../..')

/** A turn that takes longer hangs: a peer has lost a job or does not answer. */
const longestTurnMs = 120_000

const help = `Measures riverrun and its peers in turns, and prints JSON lines and tables.

Example: npm start --prefix bench/peers -- --only bullmq,restate

  --only <PEERS>     some of ${peers.map(({ id }) => id).join(', ')}
  --rounds <N>       how often each peer has its turn. Default 3
  --binary <FILE>    the server to measure. Default target/release/riverrun
  --data <FOLDER>    where data is written meanwhile; a real disk. Default target/peers
  --patience <S>     seconds to wait before each turn for others to leave the machine alone. Default 20
  --quick            one round of short turns: does this work?
  --save             write bench/peers/RESULTS.md`

const flags = read()
const rounds = flags.quick ? 1 : flags.rounds
const seconds = flags.quick ? 0.3 : 1.5
let child
let turns = 0
let isInterrupted = false

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    isInterrupted = true
    if (!child?.kill('SIGTERM')) process.exit(130)
  })
}

const begun = Date.now()
const pairs = []
for (let round = 1; round <= rounds; round += 1) {
  for (const peer of flags.only) {
    const wanted = measures.filter(({ needs }) => !peer.lacks.includes(needs)).map(({ id }) => id)
    const pair = { round, peer, ours: await turn(ours, wanted, round), theirs: await turn(peer, wanted, round) }
    if (pair.ours && pair.theirs) pairs.push(pair)
  }
}
const there = flags.only.filter((peer) => pairs.some((pair) => pair.peer === peer))
const report = { pairs, peers: there, rounds, seconds: (Date.now() - begun) / 1e3 }
if (!pairs.length) leave(1, 'error: no turn came to its end')
console.log(`\n${tables(report)}`)
if (flags.save) writeFileSync(join(import.meta.dirname, 'RESULTS.md'), page(report))

async function turn({ id, module, options }, wanted, round) {
  await quiet(flags.patience)
  const others = watchOthers()
  child = fork(join(import.meta.dirname, 'turn.mjs'), { timeout: longestTurnMs })
  const folder = join(flags.data, `${id}-${process.pid}-${(turns += 1)}`)
  child.send({ module, options, folder, binary: flags.binary, wanted, seconds })
  let result
  child.once('message', (message) => (result = message))
  await once(child, 'exit')
  if (isInterrupted) process.exit(130)
  if (result) {
    // Its servers have ended: only then their processor time counts as ours.
    result.others = others()
    console.log(JSON.stringify({ round, system: id, ...result }))
  } else {
    console.error(`error: the turn of ${id} did not come to its end; what its server said is in ${folder}`)
    process.exitCode = 1
  }
  return result
}

function read() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: peers.map(({ id }) => id).join() },
      rounds: { type: 'string', default: '3' },
      binary: { type: 'string', default: join(root, 'target/release/riverrun') },
      data: { type: 'string', default: join(root, 'target/peers') },
      patience: { type: 'string', default: '20' },
      quick: { type: 'boolean', default: false },
      save: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) leave(0, help)
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < 22 || (major === 22 && minor < 19)) leave(2, `error: Node ${process.versions.node} is too old for the peers; npm start takes one that is not`)
  if (values.quick && values.save) leave(2, 'error: --quick measures too little to --save')
  const only = values.only.split(',').map((id) => peers.find((peer) => peer.id === id) ?? leave(2, `error: there is no peer ${id}`))
  const [rounds, patience] = [Number(values.rounds), Number(values.quick ? 0 : values.patience)]
  if (!(rounds >= 1)) leave(2, `error: --rounds must be a number from 1 on, not ${values.rounds}`)
  if (!(patience >= 0)) leave(2, `error: --patience must be a number of seconds, not ${values.patience}`)
  // npm changes the folder; what was typed was meant from where it was typed.
  const from = process.env.INIT_CWD ?? process.cwd()
  const [binary, data] = [resolve(from, values.binary), resolve(from, values.data)]
  if (!existsSync(binary)) leave(2, `error: there is no ${binary}: cargo build --release -p riverrun`)
  return { ...values, only, rounds, patience, binary, data }
}

function leave(code, words) {
  console[code ? 'error' : 'log'](words)
  process.exit(code)
}
