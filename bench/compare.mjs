/**
 * Measures two revisions in turns and prints the ratio of each figure.
 *
 *   node bench/compare.mjs --before <revision> [--rounds 5] [--only http,append,library,jobs]
 *
 * Machines drift, so figures of different runs cannot be compared. Here each round measures the
 * revision and the working tree one right after the other, in changing order; the ratio of a round is
 * of these two, and the median of the rounds is printed with the lowest and the highest.
 */

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

const { values: options } = parseArgs({
  options: {
    before: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string', default: 'http,append,library,jobs,steps' },
    patience: { type: 'string', default: '60' },
    quick: { type: 'boolean', default: false },
    save: { type: 'string' },
  },
})

if (!options.before) {
  process.stderr.write('error: --before is missing\n  try: node bench/compare.mjs --before HEAD~20\n')
  process.exit(2)
}

/** Figures for which more is better; of all others less is. */
const moreIsBetter = new Set(['/s'])

const sides = { before: checkout(options.before), after: root }
for (const [side, folder] of Object.entries(sides)) build(side, folder)

const rounds = []
for (let round = 1; round <= Number(options.rounds); round++) {
  const order = round % 2 ? ['before', 'after'] : ['after', 'before']
  const figures = {}
  for (const side of order) {
    process.stderr.write(`round ${round} of ${options.rounds}: ${side}\n`)
    figures[side] = measure(side)
  }
  rounds.push(figures)
}
const table = report(rounds)
process.stdout.write(table)
if (options.save) writeFileSync(options.save, table)

/** The folder of a revision, checked out beside the build. */
function checkout(revision) {
  const commit = git('rev-parse', '--short', `${revision}^{commit}`)
  const folder = join(root, 'target', 'compare', commit)
  if (!existsSync(folder)) git('worktree', 'add', '--detach', folder, commit)
  return folder
}

function build(side, folder) {
  process.stderr.write(`building ${side} in ${folder}\n`)
  execFileSync('cargo', ['build', '--release', '-p', 'riverrun', '-p', 'riverrun-bench'], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
}

/** One turn: the figures of a side by part and metric. */
function measure(side) {
  const release = join(sides[side], 'target', 'release')
  const data = join(root, 'target', 'bench', side)
  mkdirSync(data, { recursive: true })
  const args = ['--binary', join(release, 'riverrun'), '--data', data, '--only', options.only, '--patience', options.patience, ...(options.quick ? ['--quick'] : [])]
  const { status, stdout, stderr } = spawnSync(join(release, 'riverrun-bench'), args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 })
  if (!stdout.includes('{')) throw new Error(`the benchmark of ${side} ended with ${status}: ${stderr.slice(-2000)}`)
  const lines = stdout.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
  const figures = new Map()
  // A metric such as "… p99" belongs to the one before it.
  let parent = ''
  for (const { part, metric, value, unit } of lines) {
    if (metric === undefined) continue
    if (!metric.startsWith('…')) parent = metric
    figures.set(`${part}: ${metric.startsWith('…') ? metric.replace('…', parent) : metric}`, { value, unit })
  }
  return figures
}

function report(rounds) {
  const names = [...rounds[0].before.keys()].filter((name) => rounds.every(({ before, after }) => before.has(name) && after.has(name)))
  const rows = names.map((name) => {
    const { unit } = rounds[0].before.get(name)
    const of = (side) => rounds.map((round) => round[side].get(name).value)
    const ratios = rounds.map(({ before, after }) => after.get(name).value / before.get(name).value)
    const better = moreIsBetter.has(unit) ? 'more' : 'less'
    return `| ${name} | ${unit} | ${better} | ${shown(median(of('before')))} | ${shown(median(of('after')))} | **${median(ratios).toFixed(3)}** | ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} |`
  })
  const head = `after / before, ${rounds.length} rounds in turns; before is ${git('rev-parse', '--short', options.before)}\n\n| figure | unit | better | before | after | ratio | range |\n| --- | --- | --- | --- | --- | --- | --- |\n`
  return `${head}${rows.join('\n')}\n`
}

function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

function shown(value) {
  return value >= 100 ? Math.round(value).toString() : value.toPrecision(3)
}

function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}
