/**
 * Server-sent events from a stream of bytes.
 */

export interface ServerSentEvent {
  id: string | undefined
  event: string
  data: string
}

export interface SseReader {
  /** Called with what the server says to wait before connecting again. */
  onRetry?: (ms: number) => void
  /** Called for every piece that comes, comments too. */
  onBytes?: () => void
}

export async function* readEvents(body: ReadableStream<Uint8Array>, { onRetry, onBytes }: SseReader = {}): AsyncGenerator<ServerSentEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  const block = new Block(onRetry)
  let pieces: string[] = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onBytes?.()
      // Joined only when a line ends, so that a long one costs no more than its length.
      pieces.push(value)
      if (!/[\r\n]/.test(value)) continue
      const lines = pieces.join('').split(/\r\n|\n|\r(?!$)/)
      pieces = [lines.pop() as string]
      for (const line of lines) {
        const event = block.take(line)
        if (event) yield event
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** The fields of one event, line by line, until an empty line ends it. */
class Block {
  #id: string | undefined
  #event = ''
  #data: string[] = []
  readonly #onRetry: ((ms: number) => void) | undefined

  constructor(onRetry: ((ms: number) => void) | undefined) {
    this.#onRetry = onRetry
  }

  take(line: string): ServerSentEvent | undefined {
    if (line === '') return this.#end()
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'id') this.#id = value
    else if (field === 'event') this.#event = value
    else if (field === 'data') this.#data.push(value)
    else if (field === 'retry' && /^\d+$/.test(value)) this.#onRetry?.(Number(value))
    return undefined
  }

  #end(): ServerSentEvent | undefined {
    const event = this.#data.length
      ? { id: this.#id, event: this.#event || 'message', data: this.#data.join('\n') }
      : undefined
    this.#event = ''
    this.#data = []
    return event
  }
}
