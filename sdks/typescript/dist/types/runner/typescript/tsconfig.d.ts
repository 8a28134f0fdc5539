/**
 * What a project's tsconfig.json says about imports: `paths`, `baseUrl` and `verbatimModuleSyntax`, and
 * the files that it extends.
 */
export interface TsConfig {
    /** Where an import of this name may lead, as paths that may lack their ending. */
    candidates(specifier: string): string[];
    /** Imports that nothing uses stay. */
    keepImports: boolean;
}
/** The nearest one, in this folder or above. */
export declare function tsconfigOf(folder: string): TsConfig;
