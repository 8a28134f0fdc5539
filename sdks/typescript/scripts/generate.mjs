/**
 * Writes `src/api`, or the folder that is given, from the server's OpenAPI document: a function for
 * each operation and the types of requests and answers. What is committed there is what this gives.
 */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@hey-api/openapi-ts'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const out = resolve(process.argv[2] ?? join(root, 'src/api'))
const document = JSON.parse(readFileSync(join(root, '../../crates/api/openapi.json'), 'utf8'))

/** Pages, WebSockets and what is not below /api are for browsers and other programs. */
function isForClients(path, { responses }) {
  const types = Object.entries(responses).flatMap(([status, { content }]) => (status.startsWith('2') ? Object.keys(content ?? { none: 1 }) : []))
  return path.startsWith('/api/') && types.length > 0 && !types.includes('text/html')
}

for (const [path, item] of Object.entries(document.paths)) {
  for (const [method, operation] of Object.entries(item)) if (!isForClients(path, operation)) delete item[method]
  if (!Object.keys(item).length) delete document.paths[path]
}

const folder = mkdtempSync(join(tmpdir(), 'riverrun-api-'))
try {
  await createClient({
    input: document,
    output: { path: folder },
    logs: { level: 'silent' },
    plugins: ['@hey-api/typescript', '@hey-api/client-fetch', { name: '@hey-api/sdk', client: false }],
  })
  const head = '// Generated from crates/api/openapi.json. Do not edit: run `make clients`.\n'
  const read = (file) => readFileSync(join(folder, file), 'utf8').replace(/^\/\/.*\n/, head)
  // Requests go through our own client, which has the server's errors and the transport of Node.
  const operations = read('sdk.gen.ts').replace("'./client'", "'../client/http.ts'").replace("'./types.gen'", "'./types.ts'")
  const types = read('types.gen.ts').replace(/export type ClientOptions = \{.*?\n\};\n\n/s, '')
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  writeFileSync(join(out, 'operations.ts'), operations)
  writeFileSync(join(out, 'types.ts'), types)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
