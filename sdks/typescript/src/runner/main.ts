/**
 * The program that the server starts as `node runner.mjs`: messages come on standard input and
 * leave on fd 3. It is also the module that user code gets for `import 'riverrun'`.
 */

import { captureConsole } from './console.ts'
import { provideSdk } from './hooks.ts'
import { Lines } from './lines.ts'
import { Output } from './output.ts'
import { NotAMessage } from './peer.ts'
import { Runner } from './runner.ts'
import { provideTypeScript } from './typescript/hooks.ts'
import * as sdk from '../index.ts'
import * as testing from '../testing/index.ts'

export * from '../index.ts'
export * from '../testing/index.ts'

/** RIVERRUN_RUNNER_FD=1 is for programs that cannot open fd 3 in a child. */
const fd = Number(process.env.RIVERRUN_RUNNER_FD ?? 3)

main()

function main(): void {
  const runner = new Runner(openOutput())
  provideTypeScript(new URL('shared/typescript.mjs', import.meta.url).href)
  provideSdk(import.meta.url, () => ({ ...sdk, ...testing }))
  captureConsole((level, message) => {
    const { current } = runner
    current?.notify('log', { level, message })
    return current !== undefined
  })
  process.on('uncaughtException', (error) => blame(runner, error))
  process.on('unhandledRejection', (error) => blame(runner, error))
  listen(runner)
}

function openOutput(): Output {
  try {
    const output = new Output(fd)
    // Where messages leave on standard output, nothing else may.
    if (fd === 1) process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write
    return output
  } catch (error) {
    process.stderr.write(`riverrun: this program is started by the riverrun server, with a pipe on fd ${fd}: ${(error as Error).message}\n`)
    process.exit(2)
  }
}

function listen(runner: Runner): void {
  const lines = new Lines()
  runner.onLimits = ({ messageBytes }) => (lines.limitBytes = messageBytes)
  process.stdin.on('data', (chunk: Buffer) => {
    try {
      for (const line of lines.take(chunk)) if (line) runner.peer.receive(line)
    } catch (error) {
      if (!(error instanceof NotAMessage)) throw error
      process.stderr.write(`riverrun: the server sent what is not a message: ${error.message}\n`)
      process.exit(1)
    }
  })
  process.stdin.on('end', () => stop(runner))
  process.stdin.on('error', () => stop(runner))
}

/** The server is gone. Handlers receive the stop signal; nothing that they do now is recorded. */
function stop(runner: Runner): void {
  runner.cancelAll('shutdown')
  setImmediate(() => process.exit(0))
}

/**
 * An error that no promise of a handler carries: it fails the invocation that it comes from. The
 * runner goes on, since others run here too; whom the error has harmed unseen runs into its timeout.
 */
function blame(runner: Runner, error: unknown): void {
  const { current } = runner
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  if (!current) {
    process.stderr.write(`riverrun: an error that belongs to no invocation: ${text}\n`)
    return
  }
  current.notify('log', { level: 'error', message: `uncaught: ${text}` })
  runner.fail(current, error)
}
