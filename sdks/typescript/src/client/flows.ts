import * as api from '../api/operations.ts'
import { given, type Client } from './http.ts'
import type { FlowDetail, FlowDiagram, FlowIssue, FlowSummary, RegisteredFlow } from './records.ts'

interface VersionQuery {
  /** The newest where absent. */
  version?: string
}

/** The definitions of flows. Runs of them are started and read with the client itself. */
export class FlowsApi {
  readonly #client: Client

  constructor(client: Client) {
    this.#client = client
  }

  /** The newest version of every flow. */
  async list(): Promise<FlowSummary[]> {
    return (await api.listFlows({ client: this.#client })).items as FlowSummary[]
  }

  get(id: string, query?: VersionQuery): Promise<FlowDetail> {
    return api.getFlow({ client: this.#client, path: { id }, query: given(query) }) as Promise<FlowDetail>
  }

  /** The newest first. */
  async versions(id: string): Promise<FlowSummary[]> {
    return (await api.flowVersions({ client: this.#client, path: { id } })).items as FlowSummary[]
  }

  /** A definition is kept for ever under its id and version; the same again changes nothing. */
  register(definition: object): Promise<RegisteredFlow> {
    return api.registerFlow({ client: this.#client, body: definition as Record<string, unknown> }) as Promise<RegisteredFlow>
  }

  /** What is wrong with a definition, if anything. Nothing is registered. */
  validate(definition: object): Promise<{ valid: boolean; issues: FlowIssue[] }> {
    return api.validateFlow({ client: this.#client, body: definition as Record<string, unknown> }) as Promise<{ valid: boolean; issues: FlowIssue[] }>
  }

  diagram(id: string, query?: VersionQuery): Promise<FlowDiagram> {
    return api.flowDiagram({ client: this.#client, path: { id }, query: given(query) }) as Promise<FlowDiagram>
  }
}
