import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { mismatch } from '../../conformance/driver/pattern.mjs'
import { root } from './support.mjs'

test('every conversation of sdks/conformance', () => {
  const { status, stdout } = spawnSync(process.execPath, [join(root, '../conformance/run.mjs'), '--language', 'typescript', '--verbose'], { encoding: 'utf8' })
  assert.equal(status, 0, stdout)
})

test('patterns tell what matches from what does not', () => {
  const cases = [
    [{ a: 1 }, { a: 1, b: 2 }, true],
    [{ a: 1 }, { b: 2 }, false],
    [{ a: { $exactly: { x: 1 } } }, { a: { x: 1, y: 2 } }, false],
    [[1, 2], [1, 2, 3], false],
    [{ a: { $absent: true } }, { a: null }, true],
    [{ a: { $absent: true } }, { a: 0 }, false],
    [{ a: { $is: 'integer' } }, { a: 1.5 }, false],
    [{ a: { $matches: '^x+$' } }, { a: 'xxy' }, false],
    [{ a: { $oneOf: [1, 2] } }, { a: 2 }, true],
    [{ a: { $oneOf: [1, 2] } }, { a: 3 }, false],
    [{ a: { $bind: 'n' }, b: { $ref: 'n' } }, { a: 7, b: 7 }, true],
    [{ a: { $bind: 'n' }, b: { $ref: 'n' } }, { a: 7, b: 8 }, false],
  ]
  for (const [pattern, value, matches] of cases) {
    assert.equal(mismatch(pattern, value, new Map()) === undefined, matches, JSON.stringify([pattern, value]))
  }
})
