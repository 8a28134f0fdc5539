/**
 * TypeScript in a runner, on every Node that is there: the one that runs this, and those that
 * scripts/nodes.sh has put under target/nodes.
 */

import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { project, startRunner } from './support.mjs'

const repository = join(dirname(fileURLToPath(import.meta.url)), '../../..')
const binary = process.env.RIVERRUN_TEST_BINARY ?? join(repository, 'target/debug/riverrun')
const folder = join(repository, 'target/nodes')
const others = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name, 'node_modules/node/bin/node')) : []
const nodes = [process.execPath, ...others.filter(existsSync)]

test('the program that translates is there', () => {
  assert.ok(existsSync(binary), `${binary} does not exist; cargo build -p riverrun makes it`)
})

for (const node of nodes) {
  const on = node === process.execPath ? `Node ${process.versions.node}` : node.slice(folder.length + 1).split('/')[0]
  const start = (t) => startRunner(t, { node, env: { RIVERRUN_TYPESCRIPT_COMMAND: binary } })

  async function value(t, files, file = 'a.ts', input = 1) {
    const runner = await start(t)
    const { result, error } = await runner.invoke(join(project(t, files), file), input)
    assert.equal(error, undefined, JSON.stringify(error))
    return result.value
  }

  test(`${on}: a process in TypeScript loads with nothing installed`, async (t) => {
    const files = {
      'processes/resize.ts': `
        import { Context, defineQueueWorker } from 'riverrun'
        import { width, type Size } from '../lib/width'
        interface Data { url: string }
        export const config = { queue: 'resize', concurrency: 4 }
        export default defineQueueWorker<Data>(async (job, ctx: Context) => ({ url: job.data.url, width: width as Size, attempt: ctx.attempt }))
      `,
      'lib/width.ts': 'export type Size = number\nexport const width: Size = 640',
    }
    const folder = project(t, files)
    const runner = await start(t)
    const file = join(folder, 'processes/resize.ts')
    const loaded = await runner.load(file)
    assert.deepEqual(loaded.result?.processes, [{ export: 'default', config: { queue: 'resize', concurrency: 4 } }], JSON.stringify(loaded))
    const { result } = await runner.invoke(file, { url: 'x' })
    assert.deepEqual(result, { value: { url: 'x', width: 640, attempt: 1 } })
  })

  test(`${on}: imports are found as TypeScript finds them`, async (t) => {
    const found = await value(t, {
      'package.json': '{"type":"module","imports":{"#inner":"./src/inner.js"}}',
      'tsconfig.json': '{ // comments and commas\n "extends": ["./base", "@tsconfig/not-installed/tsconfig.json"], "compilerOptions": { "target": "es2022", }, }',
      'base.json': '{ "compilerOptions": { "baseUrl": ".", "paths": { "@lib/*": ["missing/*", "src/lib/*"], "exact": ["src/exact.ts"] } } }',
      'a.ts': `
        import bare from './src/bare'
        import js from './src/named.js'
        import { inFolder } from './src/folder'
        import mapped from '@lib/mapped'
        import exact from 'exact'
        import based from 'src/based'
        import inner from '#inner'
        import data from './data.json'
        import same from './data.json' with { type: 'json' }
        import modern from './src/modern.mjs'
        import old from './src/old.cjs'
        import plain from './src/plain.js'
        import { dependency } from 'dependency'
        import { readFileSync } from 'node:fs'
        import type { Nothing } from './not-there'
        import { Late } from './src/types.js'
        const late: Late = 'late'
        export default async () => [bare, js, inFolder, mapped, exact, based, inner, data.n, same.n, modern, old, plain, dependency, typeof readFileSync, late, (await import('./src/lazy')).lazy]`,
      'src/bare.ts': "export default 'bare' satisfies string",
      'src/named.ts': "export default 'named' as string",
      'src/folder/index.ts': "export const inFolder: string = 'folder'",
      'src/lib/mapped.ts': "import exact from 'exact'\nexport default ('mapped ' + exact) as string",
      'src/exact.ts': "export default 'exact' as const",
      'src/based.ts': "export default 'based' as const",
      'src/inner.ts': "export default 'inner' as const",
      'data.json': '{"n": 7}',
      'src/modern.mts': "export default 'modern' as const",
      'src/old.cts': "import two = require('./two')\nmodule.exports = ('old ' + two.two) as string",
      'src/two.cts': 'const two: number = 2\nexports.two = two',
      'src/plain.js': "export default 'plain'",
      'src/types.ts': 'export type Late = string',
      'src/lazy.ts': "export const lazy: string = 'lazy'",
      'node_modules/dependency/package.json': '{"main":"index.js","type":"module"}',
      'node_modules/dependency/index.js': "export { dependency } from './inside.js'",
      'node_modules/dependency/inside.js': "export const dependency = 'untouched'",
      'node_modules/dependency/inside.ts': 'this is nothing',
    })
    assert.deepEqual(found, ['bare', 'named', 'folder', 'mapped exact', 'exact', 'based', 'inner', 7, 7, 'modern', 'old 2', 'plain', 'untouched', 'function', 'late', 'lazy'])
  })

  test(`${on}: CommonJS is TypeScript too`, async (t) => {
    const files = {
      'tsconfig.json': '{"compilerOptions":{"paths":{"@/*":["./lib/*"]}}}',
      'a.cts': "const { one } = require('./lib/one')\nconst { two } = require('@/two') as { two: number }\nconst three: number = require('./lib/three.ts')\nmodule.exports = (input: number) => [input, one, two, three]\nmodule.exports.config = { queue: 'old' }",
      'b.ts': "const { one } = require('./lib/one')\nexports.default = async (input: number): Promise<number[]> => [input, one]",
      'lib/one.ts': 'exports.one = 1 as number',
      'lib/two.ts': 'enum N { Two = 2 }\nexports.two = N.Two',
      'lib/three.ts': 'export = 3',
    }
    assert.deepEqual(await value(t, files, 'a.cts'), [1, 1, 2, 3])
    assert.deepEqual(await value(t, files, 'b.ts'), [1, 1])
  })

  test(`${on}: syntax with a meaning of its own is transformed`, async (t) => {
    const code = `
      import { Other } from './other'
      enum Size { Small = 640, Large = Small * 2 }
      namespace Names { export const first = 'Ada' }
      class Box { constructor(private readonly width: number, public other?: Other) {} get size() { return this.width } }
      abstract class Base { abstract x: number; y = 2 }
      class Own extends Base { declare x: number; override y = 3 }
      export default () => [Size.Large, Size[640], Names.first, new Box(5).size, new Own().y, 'x' in new Own(), <number>1]
    `
    assert.deepEqual(await value(t, { 'a.ts': code, 'other.ts': 'export interface Other {}' }), [1280, 'Small', 'Ada', 5, 3, false, 1])
  })

  for (const [how, before] of Object.entries({ blanked: 'interface Long {\n  a: string\n}', transformed: 'enum Long {\n  A,\n}' })) {
    test(`${on}: stack traces name the lines of a ${how} file`, async (t) => {
      const inner = `${before}\nexport function fail(much: string): never {\n  throw new Error('no ' + much)\n}\n`
      const folder = project(t, { 'a.ts': `${before}\nimport { fail } from './b'\n\nexport default async (input: string) => {\n  await null\n  fail(input)\n}\n`, 'b.ts': inner, 'c.ts': `${before}\n\n  throw new Error('at once' as string)\nexport {}\n`, 'd.cts': `${before}\nmodule.exports = (): never => {\n  throw new Error('old')\n}\n` })
      const runner = await start(t)
      const thrown = (await runner.invoke(join(folder, 'a.ts'), 'way')).error
      assert.equal(thrown.message, 'no way')
      assert.match(thrown.data.stack, /^Error: no way\n/)
      assert.match(thrown.data.stack, /b\.ts:5:9/)
      assert.match(thrown.data.stack, /a\.ts:8:3/)
      const old = (await runner.invoke(join(folder, 'd.cts'), 1)).error
      assert.match(old.data.stack, /d\.cts:5:9/)
      const { error } = await runner.load(join(folder, 'c.ts'))
      assert.equal(error.data.code, 'MODULE_ERROR')
      assert.match(error.data.stack, /c\.ts:5:9/)
    })
  }

  test(`${on}: a syntax error names its line and column, also in what is imported`, async (t) => {
    const bad = 'export type A = 1\n\nexport const b = (x: ) => 2\n'
    const folder = project(t, { 'package.json': '{"type":"module"}', 'bad.ts': bad, 'nested.ts': "import './lib/deep'\nthrow new Error('runs')\n", 'lib/deep.ts': bad, 'old.cts': 'let x: number = {a b}\n', 'mark.ts': 'export default class {\n  @log() a() {}\n}\n' })
    for (const [file, at] of [['bad.ts', 'bad.ts:3:22'], ['nested.ts', 'lib/deep.ts:3:22'], ['old.cts', 'old.cts:1:20'], ['mark.ts', 'mark.ts:2:3']]) {
      const runner = await start(t)
      const { error } = await runner.load(join(folder, file))
      assert.equal(error.data.code, 'MODULE_SYNTAX', JSON.stringify(error))
      assert.ok(error.message.startsWith(`${join(folder, at)}: `), error.message)
      assert.match(error.data.stack, /\n\s*\^/)
      assert.doesNotMatch(error.data.stack, /node:internal|runner\.mjs|typescript\.mjs/)
    }
  })

  test(`${on}: a missing import names the line of the file that has it, without frames of the loader`, async (t) => {
    const files = { 'package.json': '{"type":"module"}', 'a.ts': "interface A { b: string }\n\nimport { b } from './lib/gone'\nexport default () => b\n", 'b.ts': "import type { A } from './a'\nimport x from 'not-installed'\nexport default (): A => x\n", 'c.cts': "const x = require('./gone') as string\nmodule.exports = () => x\n" }
    for (const [file, at] of [['a.ts', 'a.ts:3:19'], ['b.ts', 'b.ts:2:15'], ['c.cts', 'c.cts:1:19']]) {
      const folder = project(t, files)
      const runner = await start(t)
      const { error } = await runner.load(join(folder, file))
      assert.equal(error.data.code, 'MODULE_ERROR')
      assert.ok(error.message.startsWith(`${join(folder, at)}: `), error.message)
      assert.doesNotMatch(error.data.stack, /node:|runner\.mjs|typescript\.mjs/)
    }
  })

  test(`${on}: a file that kills the translator is an error of that file alone`, async (t) => {
    const folder = project(t, { 'package.json': '{"type":"module"}', 'deep.ts': `export default ${'('.repeat(2_000_000)}1`, 'good.ts': 'export default (a: number) => a' })
    const runner = await start(t)
    const { error } = await runner.load(join(folder, 'deep.ts'))
    assert.equal(error.data.code, 'MODULE_TS', JSON.stringify(error).slice(0, 500))
    assert.deepEqual((await runner.invoke(join(folder, 'good.ts'), 4)).result, { value: 4 })
  })

  test(`${on}: expressions are sent as what works elsewhere`, async (t) => {
    const code = `
      enum Size { Small = 1 }
      export const config = {
        when: (event: { n: number }) => { const big = (x: number) => x > 1; return big(event.n) },
        map(event: any) { function twice(x: number) { return x * 2 }; return { n: twice(event.n) } },
      }
      export default () => Size.Small
    `
    const runner = await start(t)
    const { result } = await runner.load(join(project(t, { 'a.ts': code }), 'a.ts'))
    const [when, map] = ['when', 'map'].map((name) => new Function(`"use strict"; return (${result.processes[0].config[name].$function})`)())
    assert.deepEqual([when({ n: 2 }), when({ n: 1 }), map({ n: 2 })], [true, false, { n: 4 }])
  })
}

test('a runner without a translator reports that', { skip: Boolean(process.features.typescript) }, async (t) => {
  const runner = await startRunner(t)
  const { error } = await runner.load(join(project(t, { 'a.ts': 'export default (a: number) => a' }), 'a.ts'))
  assert.equal(error.data.code, 'MODULE_TS')
  assert.equal(error.data.stack, undefined)
})
