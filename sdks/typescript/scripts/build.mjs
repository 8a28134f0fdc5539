/**
 * Builds `dist`, or the folder that is given: what is committed there is what this gives.
 */

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const out = resolve(process.argv[2] ?? join(root, 'dist'))

const shared = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  target: 'node18.19',
  platform: 'node',
  charset: 'utf8',
  legalComments: 'none',
}

rmSync(out, { recursive: true, force: true })

// The validator of the test kit has the library inside that it is made of, with the words of its licence.
const validator = await build({ ...shared, entryPoints: ['src/testing/json-schema.ts'], minify: true, write: false, metafile: true })
const inside = new Set(Object.keys(validator.metafile.inputs).flatMap((file) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []))
const licences = [...inside].sort().map((folder) => `${folder.slice('node_modules/'.length)}\n\n${readFileSync(join(root, folder, 'LICENSE'), 'utf8').trim()}`)
mkdirSync(join(out, 'shared'), { recursive: true })
writeFileSync(join(out, 'shared/json-schema.mjs'), `/*\n${licences.join('\n\n')}\n*/\n${validator.outputFiles[0].text}`)
const apart = {
  name: 'apart',
  setup({ onResolve }) {
    onResolve({ filter: /\/json-schema\.ts$/ }, () => ({ path: './shared/json-schema.mjs', external: true }))
    onResolve({ filter: /\/typescript\/hooks\.ts$/ }, () => ({ path: './shared/typescript.mjs', external: true }))
  },
}

// The hooks that load TypeScript run in a thread of their own as well, so they are a module of their own.
await build({ ...shared, entryPoints: ['src/runner/typescript/hooks.ts'], outfile: join(out, 'shared/typescript.mjs') })

// The classes of all entries are the same, so that an error of one is an error of the other.
await build({
  ...shared,
  entryPoints: { index: 'src/index.ts', api: 'src/api.ts', testing: 'src/testing/index.ts', worker: 'src/worker/index.ts' },
  splitting: true,
  chunkNames: 'shared/[hash]',
  plugins: [apart],
  outdir: out,
})

await build({ ...shared, entryPoints: ['src/runner/main.ts'], plugins: [apart], outfile: join(out, 'runner.mjs') })

execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.json', '--emitDeclarationOnly', '--outDir', join(out, 'types')], {
  cwd: root,
  stdio: 'inherit',
})
