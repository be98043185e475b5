/** What an engine says about the adapters it was started for: read from the settings it shows, some of which it may leave out. */
import type { AdapterLimits, Json, JsonObject } from '../../../src/contract/index.ts'
import { isList, objectOf, textOf } from '../../../src/dialects/index.ts'
import type { Reply } from './http.ts'

/** Stands for every module that it knows. */
const ALL = 'all'

/** `given`: what the operator says about an engine that does not tell. */
export function limitsOf(shown: JsonObject, adapters: Json | undefined, modules: Json | undefined, given: number | null): AdapterLimits {
  return { rankMax: countOf(shown['max_lora_rank']) ?? given, adaptersMax: countOf(adapters), modules: modulesOf(modules) }
}

/** An engine without the route shows nothing, and is taken as it is. */
export const shownBy = ({ status, json }: Reply): JsonObject => (status < 400 ? objectOf(json) : {})

const countOf = (value: Json | undefined): number | null =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : null

/** Engines list the ends of names; a longer name counts by its end. */
function modulesOf(value: Json | undefined): readonly string[] | null {
  if (!isList(value) || value.length === 0 || value.includes(ALL)) return null
  return value.map((name) => textOf(name).split('.').at(-1) ?? '')
}
