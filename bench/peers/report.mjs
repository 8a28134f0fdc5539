/** Figures as tables. */

import { cpus, release } from 'node:os'
import { median } from './load.mjs'
import { measures } from './measures.mjs'
import { ours } from './peers.mjs'
import { disturbed } from './usage.mjs'

/** By how much a limit of the machine may differ between two turns that are compared. */
const drift = 0.1

export function tables({ pairs, peers }) {
  const of = (peer) => pairs.filter((pair) => pair.peer === peer)
  const systems = [ours, ...peers]
  const head = ['', ...systems.map(({ title }) => title)]
  const versions = ['version', pairs[0].ours.version, ...peers.map((peer) => of(peer)[0].theirs.version)]
  const syncs = ['synced to disk before it is acknowledged', ...systems.map(({ syncs }) => syncs)]
  const mine = pairs.map((pair) => pair.ours)
  const figures = measures.map((measure) => [
    `${measure.title}, ${measure.unit}`,
    short(median(values(measure, mine))),
    ...peers.map((peer) => cell(measure, of(peer))),
  ])
  const spread = measures.map((measure) => [
    `${measure.title}, ${measure.unit}`,
    range(values(measure, mine)),
    ...peers.map((peer) => range(values(measure, of(peer).map((pair) => pair.theirs)))),
  ])
  const limits = pairs.map((pair) => [
    `${pair.round}: ${pair.peer.title}`,
    ...['appends', 'posts'].flatMap((limit) => [pair.ours, pair.theirs].map(({ machine }) => short(machine[limit]))),
    ...[pair.ours, pair.theirs].map(({ others }) => `${Math.round(others * 100)} %`),
    areAlike(pair) ? 'yes' : 'no',
  ])
  return [
    table(head, [...figures, versions, syncs]),
    caption,
    'The lowest and the highest of these figures:',
    table(head, spread),
    'The machine in each turn, of riverrun and then of its peer:',
    table(['round', 'synced appends/s', 'peer', 'empty POSTs/s', 'peer', 'CPU of others', 'peer', 'alike'], limits),
  ].join('\n\n')
}

export function page(report) {
  const [{ model }] = cpus()
  const machine = `${cpus().length} cores of ${model}, Linux ${release()}`
  const when = new Date().toISOString().slice(0, 10)
  const took = `${report.rounds} rounds in ${Math.round(report.seconds / 60)} minutes`
  const intro = `Written by \`make peers ARGS=--save\` on ${when} on ${machine}, Node ${process.versions.node}: ${took}. How each figure is taken: [README](../README.md#comparing-with-other-engines).`
  return `# riverrun and its peers\n\n${intro}\n\n${tables(report)}\n`
}

const caption = `A figure is the median of the turns in which others left the machine alone. After the dot: how many times better
riverrun was in its turn just before, the median of the rounds in which both turns found the same machine (\`~\`: its limits
had changed in all of them). Bold is where riverrun was behind. A dash: there is no such thing.`

/** A peer's figure, and how riverrun stood to it. */
function cell(measure, pairs) {
  const { id, unit } = measure
  const both = pairs.filter(({ ours, theirs }) => ours.figures[id] && theirs.figures[id])
  if (!both.length) return '–'
  const alike = both.filter(areAlike)
  const best = alike.length ? alike : ifAny(both, ({ ours, theirs }) => isFree(ours) && isFree(theirs))
  const times = median(best.map(({ ours, theirs }) => better(unit, ours.figures[id], theirs.figures[id])))
  const shown = `${alike.length ? '' : '~'}${short(times)}×`
  return `${short(median(values(measure, both.map((pair) => pair.theirs))))} · ${times < 1 ? `**${shown}**` : shown}`
}

const better = (unit, mine, theirs) => (unit === 'ms' ? theirs / mine : mine / theirs)

/** The results of the turns in which no other program ran, or of all turns if there was none. */
const values = ({ id }, turns) => ifAny(turns.filter(({ figures }) => figures[id]), isFree).map(({ figures }) => figures[id])

const isFree = ({ others }) => others <= disturbed

function ifAny(list, isGood) {
  const good = list.filter(isGood)
  return good.length ? good : list
}

/** Whether both turns found the same machine, and found it free. */
function areAlike({ ours, theirs }) {
  if (!isFree(ours) || !isFree(theirs)) return false
  return ['appends', 'posts'].every((limit) => {
    const [low, high] = [ours.machine[limit], theirs.machine[limit]].sort((a, b) => a - b)
    return high / low < 1 + drift
  })
}

function range(values) {
  return values.length ? `${short(Math.min(...values))} to ${short(Math.max(...values))}` : '–'
}

/** Three digits are all that such figures are worth. */
function short(value) {
  if (value === undefined) return '–'
  if (value >= 100) return Math.round(Number(value.toPrecision(3))).toLocaleString('en')
  return value.toFixed(value >= 10 ? 1 : 2)
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, at) => (at ? '---:' : '---'))), ...rows.map(line)].join('\n')
}
