import type { RunEvent } from '../events.ts'
import { isObject } from '../json.ts'
import { deleteAt, setAt } from './path.ts'

type State = Record<string, unknown>

/** The state after an event that writes to it; the same object after any other. */
export function reduceState(state: State, event: RunEvent): State {
  const { type, data } = event
  switch (type) {
    case 'flow.started':
      return fromInput(data?.input)
    case 'state.set':
      return setAt(state, data.key, data.value)
    case 'state.delete':
      return deleteAt(state, data.key)
    case 'state.batch':
      return (data.operations as Operation[]).reduce(operate, state)
    case 'state.snapshot':
      return data
    default:
      return state
  }
}

interface Operation {
  type: 'set' | 'delete'
  key: string
  value?: unknown
}

function operate(state: State, { type, key, value }: Operation): State {
  return type === 'set' ? setAt(state, key, value ?? null) : deleteAt(state, key)
}

/** An object is the state itself; any other value, but for null, is found under `input`. */
function fromInput(input: unknown): State {
  if (isObject(input)) return input
  return input === undefined || input === null ? {} : { input }
}
