import type { Failure, JournalRecord } from '../wire.ts'

export interface Memo {
  value?: unknown
  error?: Failure | null
}

/** What earlier attempts recorded, handed out by name in the order of the records. */
export class Journal {
  readonly #memos = new Map<string, Memo[]>()

  constructor(records: readonly JournalRecord[]) {
    for (const { op, name, ...memo } of records) {
      if (op !== 'memo' || name === undefined) continue
      const memos = this.#memos.get(name)
      if (memos) memos.push(memo)
      else this.#memos.set(name, [memo])
    }
  }

  /** The record for the next use of a name; undefined once they are used up. */
  next(name: string): Memo | undefined {
    return this.#memos.get(name)?.shift()
  }
}
