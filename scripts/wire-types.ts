/** The client's copy of the wire types, printed from the schemas of the contract: the published client depends on nothing. */
import { componentSchemas } from '../src/http/openapi/schemas.ts'

export const WIRE_TYPES = 'client/src/wire.generated.ts'

/** What the client takes and answers with. Schemas that these name are printed too, and not exported. */
const NAMES = [
  'AuditList',
  'ArchivedScenario',
  'AuditRow',
  'Caller',
  'CatalogRow',
  'Configuration',
  'CreateTokenBody',
  'CreatedScenario',
  'Fleet',
  'ForgetBody',
  'ForgottenPerson',
  'FoundRecordList',
  'FullRecord',
  'Head',
  'ImportBody',
  'ListedRecord',
  'ListedTask',
  'ListedToken',
  'Manifest',
  'NewTask',
  'NewToken',
  'Receipt',
  'RecordExcerpt',
  'RecordList',
  'RecordRow',
  'ReleaseRow',
  'ReportBody',
  'RequestProgress',
  'Requires',
  'ScenarioRow',
  'ScenarioStatus',
  'ServiceStatus',
  'ShownTask',
  'SignInOffer',
  'StepProgress',
  'TaskChange',
  'TokenLimits',
  'TokenRow',
  'TokenUse',
  'TrainBody',
  'TrainReceipt',
  'UpdateScenarioBody',
  'UpdatedScenario',
]

type Schema = ReturnType<typeof componentSchemas>[string]

export function wireTypes(): string {
  const all = componentSchemas()
  const printed = new Map<string, string>()
  const print = (name: string): void => {
    if (printed.has(name)) return
    const schema = all[name]
    if (schema === undefined) throw new Error(`there is no schema ${name}`)
    printed.set(name, `${NAMES.includes(name) ? 'export ' : ''}${declaration(name, schema)}\n`)
    namesIn(schema).forEach(print)
  }
  NAMES.forEach(print)
  const head = '/** Made by `npm run docs` from src/contract/wire: do not edit. */\n\n'
  return (
    head +
    [...printed]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, text]) => text)
      .join('\n')
  )
}

/** Answers one of them by itself with the names of others that it has, and null for a name that is no schema. */
export function wireDeclarer(): (name: string) => { readonly text: string; readonly others: readonly string[] } | null {
  const all = componentSchemas()
  return (name) => {
    const schema = all[name]
    return schema === undefined ? null : { text: declaration(name, schema), others: namesIn(schema) }
  }
}

const namesIn = (schema: Schema): readonly string[] =>
  [...JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name)

function declaration(name: string, schema: Schema): string {
  const { properties, required = [] } = schema
  if (properties === undefined) return `type ${name} = ${typeOf(schema)}`
  const members = Object.entries(properties).map(([key, value]) => {
    const member = schemaOf(value)
    const comment = member.description === undefined ? '' : `  /** ${member.description} */\n`
    return `${comment}  ${memberOf(key, member, required)}\n`
  })
  return `interface ${name} {\n${members.join('')}}`
}

const memberOf = (key: string, schema: Schema, required: readonly string[]): string =>
  `readonly ${key}${required.includes(key) ? '' : '?'}: ${typeOf(schema)}`

function typeOf(schema: Schema): string {
  const { $ref, const: only, enum: all, anyOf, oneOf, type } = schema
  if ($ref !== undefined) return $ref.slice($ref.lastIndexOf('/') + 1)
  if (only !== undefined) return literal(only)
  if (all !== undefined) return all.map(literal).join(' | ')
  const branches = oneOf ?? (type === undefined ? anyOf : undefined)
  if (branches !== undefined) return branches.map((branch) => typeOf(schemaOf(branch))).join(' | ')
  if (Array.isArray(type)) return type.map((each) => typeOf({ type: each })).join(' | ')
  if (type === 'array') return `readonly ${grouped(typeOf(schemaOf(schema.items)))}[]`
  if (type === 'object') return objectType(schema)
  if (type === 'integer') return 'number'
  return type ?? 'unknown'
}

function objectType({ properties, required = [], additionalProperties }: Schema): string {
  if (properties === undefined)
    return `Readonly<Record<string, ${additionalProperties === undefined ? 'unknown' : typeOf(schemaOf(additionalProperties))}>>`
  const members = Object.entries(properties).map(([key, value]) => memberOf(key, schemaOf(value), required))
  return `{ ${members.join('; ')} }`
}

const schemaOf = (value: Schema['items']): Schema => (typeof value === 'object' && !Array.isArray(value) ? value : {})
const grouped = (type: string): string => (type.includes(' | ') ? `(${type})` : type)
const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value))
