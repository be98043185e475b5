/** The wire schemas as JSON schemas: each exported `<name>Schema` is a component of the document, named after itself. */
import { z } from 'zod'
import * as wire from '../../contract/wire/index.ts'

type JsonSchema = z.core.JSONSchema.BaseSchema

const SUFFIX = /Schema$/
const COMPONENTS: ReadonlyMap<unknown, string> = new Map(
  Object.entries(wire).flatMap(([name, schema]) => (SUFFIX.test(name) ? [[schema, capital(name.replace(SUFFIX, ''))]] : [])),
)

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

const placeOf = (name: string): string => `#/components/schemas/${name}`

export function refTo(schema: z.ZodType): { readonly $ref: string } {
  const name = COMPONENTS.get(schema)
  if (name === undefined) throw new Error('the schema is no component; export it from the contract as <name>Schema')
  return { $ref: placeOf(name) }
}

/** As a request holds them: a field with a default may be left out, and answers may have further fields. */
const OPTIONS = { io: 'input', target: 'draft-2020-12', unrepresentable: 'any', override: withoutSafeRange } as const

export function componentSchemas(): Readonly<Record<string, JsonSchema>> {
  const registry = z.registry<{ id: string }>()
  for (const [schema, id] of COMPONENTS) if (schema instanceof z.ZodType) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { ...OPTIONS, uri: placeOf })
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, plain(schema)]))
}

/** Of a parameter, on the spot. */
export const inlineSchema = (schema: z.ZodType): JsonSchema => plain(z.toJSONSchema(schema, OPTIONS))

/** The document names its dialect once, and a component is known by its place. */
function plain(schema: JsonSchema): JsonSchema {
  const { $schema: _, $id: __, ...rest } = schema
  return rest
}

/** Every whole number is a safe integer; saying so of each would bury the real limits. */
function withoutSafeRange({ jsonSchema }: { readonly jsonSchema: JsonSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
}
