import type { Http } from './http.ts'
import { part } from './path.ts'
import type { FlowDetail, FlowDiagram, FlowIssue, FlowSummary, Page, RegisteredFlow } from './records.ts'

interface VersionQuery {
  /** The newest where absent. */
  version?: string
}

/** The definitions of flows. Runs of them are started and read with the client itself. */
export class FlowsApi {
  readonly #http: Http

  constructor(http: Http) {
    this.#http = http
  }

  /** The newest version of every flow. */
  async list(): Promise<FlowSummary[]> {
    return (await this.#http.get<Page<FlowSummary>>('/api/flows')).items
  }

  get(id: string, query?: VersionQuery): Promise<FlowDetail> {
    return this.#http.get(`/api/flows/${part(id)}`, { query: { ...query } })
  }

  /** The newest first. */
  async versions(id: string): Promise<FlowSummary[]> {
    return (await this.#http.get<Page<FlowSummary>>(`/api/flows/${part(id)}/versions`)).items
  }

  /** A definition is kept for ever under its id and version; the same again changes nothing. */
  register(definition: object): Promise<RegisteredFlow> {
    return this.#http.post('/api/flows', definition)
  }

  /** What is wrong with a definition, if anything. Nothing is registered. */
  validate(definition: object): Promise<{ valid: boolean; issues: FlowIssue[] }> {
    return this.#http.post('/api/flows/validate', definition)
  }

  diagram(id: string, query?: VersionQuery): Promise<FlowDiagram> {
    return this.#http.get(`/api/flows/${part(id)}/diagram`, { query: { ...query } })
  }
}
