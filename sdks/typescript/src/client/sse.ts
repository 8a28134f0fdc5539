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
  /** Called with an id that comes without an event: the position of the stream. */
  onId?: (id: string) => void
  /** Called for every piece that comes, comments too. */
  onBytes?: () => void
}

export async function* readEvents(body: ReadableStream<Uint8Array>, listener: SseReader = {}): AsyncGenerator<ServerSentEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  const block = new Block(listener)
  let pieces: string[] = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      listener.onBytes?.()
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
  readonly #listener: SseReader

  constructor(listener: SseReader) {
    this.#listener = listener
  }

  take(line: string): ServerSentEvent | undefined {
    if (line === '') return this.#end()
    const colon = line.indexOf(':')
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'id') this.#id = value
    else if (field === 'event') this.#event = value
    else if (field === 'data') this.#data.push(value)
    else if (field === 'retry' && /^\d+$/.test(value)) this.#listener.onRetry?.(Number(value))
    return undefined
  }

  #end(): ServerSentEvent | undefined {
    const event = this.#data.length
      ? { id: this.#id, event: this.#event || 'message', data: this.#data.join('\n') }
      : undefined
    if (!event && this.#id) this.#listener.onId?.(this.#id)
    this.#event = ''
    this.#data = []
    return event
  }
}
