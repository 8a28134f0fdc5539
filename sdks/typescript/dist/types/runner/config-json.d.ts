/**
 * A config made JSON: schemas become JSON Schema, functions their source text.
 */
import { type JsonObject } from '../json.ts';
export declare function configJson(config: unknown, file: string): Promise<JsonObject>;
