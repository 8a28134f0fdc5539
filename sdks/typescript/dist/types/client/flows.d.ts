import { type Client } from './http.ts';
import type { FlowDetail, FlowDiagram, FlowIssue, FlowSummary, RegisteredFlow } from './records.ts';
interface VersionQuery {
    /** The newest where absent. */
    version?: string;
}
/** The definitions of flows. Runs of them are started and read with the client itself. */
export declare class FlowsApi {
    #private;
    constructor(client: Client);
    /** The newest version of every flow. */
    list(): Promise<FlowSummary[]>;
    get(id: string, query?: VersionQuery): Promise<FlowDetail>;
    /** The newest first. */
    versions(id: string): Promise<FlowSummary[]>;
    /** A definition is kept for ever under its id and version; the same again changes nothing. */
    register(definition: object): Promise<RegisteredFlow>;
    /** What is wrong with a definition, if anything. Nothing is registered. */
    validate(definition: object): Promise<{
        valid: boolean;
        issues: FlowIssue[];
    }>;
    diagram(id: string, query?: VersionQuery): Promise<FlowDiagram>;
}
export {};
