/**
 * JSON Schema, as the server understands it. It is a bundle of its own that contains its library: it is
 * loaded only where schemas are used, and has no packages to install.
 */

import { Ajv, type ErrorObject, type Options } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import draft6 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' }
import addFormats from 'ajv-formats'

/** One thing that breaks a schema: where, which rule, in words. */
export interface SchemaIssue {
  path: string
  rule: string
  message: string
}

/** Everything that is wrong with a value. */
export type Check = (value: unknown) => SchemaIssue[]

/** Words that the schema does not know are passed over, as by the server. */
const options: Options = { strict: false, allErrors: true, ownProperties: true, validateFormats: false, multipleOfPrecision: 9, logger: false }

/** What `$schema` names; 2020-12 where it names nothing. Formats are a rule in the older drafts alone. */
const drafts: [draft: RegExp, make: () => Ajv][] = [
  [/\/draft\/2020-12\//, () => new Ajv2020(options)],
  [/\/draft\/2019-09\//, () => new Ajv2019(options)],
  [/\/draft-07\//, withFormats],
  [/\/draft-06\//, () => withFormats().addMetaSchema(draft6)],
]

/** Throws where the server would refuse the schema. */
export function compile(schema: object | boolean): Check {
  const { $schema = 'https://json-schema.org/draft/2020-12/schema' } = schema as { $schema?: unknown }
  const make = drafts.find(([draft]) => draft.test(String($schema)))?.[1]
  if (!make) throw new Error(`the test kit does not know ${String($schema)}: give a schema of draft 6 or newer`)
  try {
    const validate = make().compile(schema)
    return (value) => (validate(value) ? [] : (validate.errors ?? []).filter(isOfItsOwn).map(issue))
  } catch (error) {
    if (!(error instanceof Ajv.MissingRefError)) throw error
    throw new Error('it refers to another document, and nothing is fetched: put that schema into this one, under $defs')
  }
}

function withFormats(): Ajv {
  return addFormats.default(new Ajv({ ...options, validateFormats: true }))
}

/** The issues of all choices are reported as one: that none of them fits. */
function isOfItsOwn({ schemaPath }: ErrorObject): boolean {
  return !/\/(anyOf|oneOf)\/\d+\//.test(schemaPath)
}

function issue({ instancePath, keyword, params, message = 'does not fit' }: ErrorObject): SchemaIssue {
  const parent = instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')
  // A field that is missing has its own path, not its parent's.
  const field = keyword === 'required' ? [String(params.missingProperty)] : []
  const path = [...(parent ? [parent] : []), ...field].join('.')
  return { path, rule: keyword, message }
}
