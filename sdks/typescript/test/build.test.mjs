import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { build } from 'esbuild'
import { version } from '../dist/index.js'
import { root } from './support.mjs'

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

test('dist is what a fresh build gives', (t) => {
  const fresh = mkdtempSync(join(tmpdir(), 'riverrun-dist-'))
  t.after(() => rmSync(fresh, { recursive: true, force: true }))
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), fresh], { stdio: 'pipe' })
  const files = (folder) => readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length)).sort()
  assert.deepEqual(files(join(root, 'dist')), files(fresh))
  for (const file of files(fresh)) {
    const same = readFileSync(join(fresh, file)).equals(readFileSync(join(root, 'dist', file)))
    assert.ok(same, `dist${file} is not up to date: npm run build`)
  }
})

test('the version is the package\'s', () => {
  assert.equal(version, manifest.version)
})

test('there are no dependencies at run time', () => {
  assert.equal(manifest.dependencies, undefined)
  const entries = ['index.js', 'api.js']
  const shared = entries.flatMap((entry) => [...readFileSync(join(root, 'dist', entry), 'utf8').matchAll(/from "\.\/([^"]+)"/g)].map(([, file]) => file))
  assert.ok(shared.length)
  for (const file of [...entries, ...shared]) {
    assert.doesNotMatch(readFileSync(join(root, 'dist', file), 'utf8'), /from "node:|require\(/, `${file} must run in a browser`)
  }
  for (const file of ['runner.mjs', 'worker.js', 'testing.js']) {
    const imports = readFileSync(join(root, 'dist', file), 'utf8').matchAll(/^import .* from "([^"]+)"/gm)
    for (const [, name] of imports) assert.match(name, /^(node:|\.\/shared\/)/)
  }
})

test('a bundle contains only the operations that it uses', async () => {
  const contents = "import { getStory } from './dist/api.js'; export default getStory"
  const { outputFiles } = await build({ stdin: { contents, resolveDir: root }, bundle: true, format: 'esm', write: false })
  const routes = outputFiles[0].text.match(/"\/api\/[^"]*"/g)
  assert.deepEqual(routes, ['"/api/stories/{correlationId}"'])
})

test('the lockfile names no host', () => {
  assert.doesNotMatch(readFileSync(join(root, 'package-lock.json'), 'utf8'), /"resolved"/)
})
