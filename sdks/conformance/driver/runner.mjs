/**
 * A runner as the server sees it: a child process with messages on fd 0 and fd 3.
 */

import { once } from 'node:events'
import { StringDecoder } from 'node:string_decoder'
import { Program } from './program.mjs'

export class Runner extends Program {
  constructor(command, env, cwd) {
    super(command, { env, cwd, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] })
    // A runner that ends the connection must not end the driver.
    this.child.stdin.on('error', () => {})
    this.#read(this.child.stdio[3])
  }

  async write(bytes) {
    if (!this.child.stdin.write(bytes)) await Promise.race([once(this.child.stdin, 'drain'), once(this.child, 'exit')])
  }

  closeInput() {
    this.child.stdin.end()
  }

  #read(stream) {
    const decoder = new StringDecoder('utf8')
    let rest = ''
    stream.on('error', () => {})
    stream.on('data', (chunk) => {
      const lines = (rest + decoder.write(chunk)).split('\n')
      rest = lines.pop()
      for (const line of lines) this.took(line)
    })
    stream.on('end', () => {
      if (rest) this.messages.push({ unfinished: rest })
      this.wake()
    })
  }
}
