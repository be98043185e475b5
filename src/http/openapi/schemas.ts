/** Shapes as JSON schemas: each one that is exported is a component of the document, named after itself. */
import { z } from 'zod'
import * as answers from './answers.ts'
import * as bodies from './bodies.ts'

type JsonSchema = z.core.JSONSchema.BaseSchema

const COMPONENTS: ReadonlyMap<z.ZodType, string> = new Map(
  [answers, bodies].flatMap((shapes) => Object.entries(shapes).map(([name, schema]) => [schema, capital(name)])),
)

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

const placeOf = (name: string): string => `#/components/schemas/${name}`

/** What a body or an answer is said to be: the place of its component. */
export function refTo(schema: z.ZodType): { readonly $ref: string } {
  const name = COMPONENTS.get(schema)
  if (name === undefined) throw new Error('a shape that no file of shapes exports; name it there')
  return { $ref: placeOf(name) }
}

/** As a request holds them: a field with a default may be left out, and answers may have fields more. */
const OPTIONS = { io: 'input', target: 'draft-2020-12', unrepresentable: 'any', override: withoutSafeRange } as const

export function componentSchemas(): Readonly<Record<string, JsonSchema>> {
  const registry = z.registry<{ id: string }>()
  for (const [schema, id] of COMPONENTS) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { ...OPTIONS, uri: placeOf })
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, plain(schema)]))
}

/** Of a parameter, on the spot. */
export const inlineSchema = (schema: z.ZodType): JsonSchema => plain(z.toJSONSchema(schema, OPTIONS))

/** The document says once which dialect it speaks, and a component is known by its place in it. */
function plain(schema: JsonSchema): JsonSchema {
  const { $schema: _, $id: __, ...rest } = schema
  return rest
}

/** Every whole number keeps its digits here; saying so of each would bury the limits that mean something. */
function withoutSafeRange({ jsonSchema }: { readonly jsonSchema: JsonSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
}
