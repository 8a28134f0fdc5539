/**
 * A server that is played by a test, and a client for it.
 */

import { createServer } from 'node:http'
import { Riverrun } from '../dist/index.js'

/** A server that answers with what `answers` gives for `METHOD /path`, and keeps what was asked. */
export async function serve(t, answers, options = {}) {
  const requests = []
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const { method, url, headers } = request
    const text = Buffer.concat(chunks).toString()
    const asked = { method, url, headers, body: text ? JSON.parse(text) : undefined }
    requests.push(asked)
    const answer = answers[`${method} ${url.split('?')[0]}`]
    if (typeof answer === 'function') return answer(response, asked, requests)
    response.statusCode = answer ? 200 : 404
    response.end(JSON.stringify(answer ?? { error: { code: 'NOT_FOUND', message: 'nothing there', details: { url } } }))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const client = new Riverrun({ url: `http://127.0.0.1:${server.address().port}/`, token: 'secret', ...options })
  return { client, requests, server }
}
