/**
 * Builds `dist`, or the folder that is given: what is committed there is what this gives.
 */

import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const out = resolve(process.argv[2] ?? join(root, 'dist'))

const shared = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  target: 'node20',
  platform: 'node',
  charset: 'utf8',
  legalComments: 'none',
}

rmSync(out, { recursive: true, force: true })

// The classes of all entries are the same, so that an error of one is an error of the other.
await build({
  ...shared,
  entryPoints: { index: 'src/index.ts', testing: 'src/testing/index.ts', worker: 'src/worker/index.ts' },
  splitting: true,
  chunkNames: 'shared/[hash]',
  outdir: out,
})

await build({ ...shared, entryPoints: ['src/runner/main.ts'], outfile: join(out, 'runner.mjs') })

execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.json', '--emitDeclarationOnly', '--outDir', join(out, 'types')], {
  cwd: root,
  stdio: 'inherit',
})
