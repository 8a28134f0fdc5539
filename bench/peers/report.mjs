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
  const figures = measures.map((measure) => [
    `${measure.title}, ${measure.unit}`,
    short(median(pairs.map((pair) => pair.ours.figures[measure.id]).filter(Boolean))),
    ...peers.map((peer) => cell(measure, of(peer))),
  ])
  const spread = measures.map((measure) => [
    `${measure.title}, ${measure.unit}`,
    range(pairs.map((pair) => pair.ours.figures[measure.id])),
    ...peers.map((peer) => range(of(peer).map((pair) => pair.theirs.figures[measure.id]))),
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
    'The lowest and the highest figure of all rounds:',
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

const caption = `A figure is the median of all rounds. After the dot: how many times better riverrun was in its turn just before,
the median of the rounds whose two turns found the machine alike (\`~\`: there was none, so it is of all). Bold is where riverrun
was behind. A dash: there is no such thing.`

/** A peer's figure, and how riverrun stood to it. */
function cell({ id, unit }, pairs) {
  const both = pairs.filter(({ ours, theirs }) => ours.figures[id] && theirs.figures[id])
  if (!both.length) return '–'
  const alike = both.filter(areAlike)
  const times = median((alike.length ? alike : both).map(({ ours, theirs }) => better(unit, ours.figures[id], theirs.figures[id])))
  const shown = `${alike.length ? '' : '~'}${short(times)}×`
  return `${short(median(both.map(({ theirs }) => theirs.figures[id])))} · ${times < 1 ? `**${shown}**` : shown}`
}

const better = (unit, mine, theirs) => (unit === 'ms' ? theirs / mine : mine / theirs)

/** Whether both turns found the same machine, and found it free. */
function areAlike({ ours, theirs }) {
  if (Math.max(ours.others, theirs.others) > disturbed) return false
  return ['appends', 'posts'].every((limit) => {
    const [low, high] = [ours.machine[limit], theirs.machine[limit]].sort((a, b) => a - b)
    return high / low < 1 + drift
  })
}

function range(values) {
  const there = values.filter(Boolean)
  return there.length ? `${short(Math.min(...there))} to ${short(Math.max(...there))}` : '–'
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
