/** Settings that a tree of opencode may not hold: they would choose the model in the service's place, tell others of a session, or read what is the person's. */
import { invalid, isObject, type Entry, type Json, type JsonObject } from '../../../src/contract/index.ts'

/** Sessions stay on the machine, the program stays the pinned one, and nobody but the service answers. */
export const DEFAULTS: JsonObject = { autoupdate: false, enabled_providers: ['svc'], permission: 'allow', share: 'disabled' }

const MODEL = 'the service names the model; remove the field'
const PINNED = 'it is set for every tree; remove the field'
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['model', MODEL],
  ['small_model', MODEL],
  ['provider', MODEL],
  ['enabled_providers', MODEL],
  ['disabled_providers', MODEL],
  ['enterprise', MODEL],
  ['autoupdate', PINNED],
  ['share', PINNED],
  ['autoshare', PINNED],
  ['plugin', 'it loads code from outside the tree; write the code as a code_extension entry and remove the field'],
])
/** Fields that hold things by name, each of which may ask for a model of its own. */
const NAMED: readonly string[] = ['agent', 'mode', 'command']

/** The entries are looked at one by one, since the merged settings no longer say whose a field was. */
export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const { id, name, config } of entries) if (name === 'config' && isObject(config['data'])) refuseIn(id, config['data'])
}

function refuseIn(id: string, data: JsonObject): void {
  for (const [field, cure] of REFUSED) if (Object.hasOwn(data, field)) throw refused(id, field, cure)
  for (const field of NAMED)
    for (const [name, one] of Object.entries(objectIn(data, field)))
      if (isObject(one) && Object.hasOwn(one, 'model')) throw refused(id, `${field}.${name}.model`, MODEL)
  refuseReading(id, data, [])
}

function objectIn(data: JsonObject, field: string): JsonObject {
  const value = data[field]
  return isObject(value) ? value : {}
}

/** opencode puts variables and files of the machine in the place of these words, from where they would reach the model. */
function refuseReading(id: string, value: Json, path: readonly string[]): void {
  if (typeof value === 'string' && /\{(?:env|file):/.test(value))
    throw refused(id, path.join('.'), 'it reads a variable or a file of the machine with {env:…} or {file:…}; write the text itself')
  if (Array.isArray(value)) value.forEach((item: Json, index) => refuseReading(id, item, [...path, String(index)]))
  if (!isObject(value)) return
  for (const [key, member] of Object.entries(value)) {
    refuseReading(id, key, path)
    refuseReading(id, member, [...path, key])
  }
}

const refused = (id: string, field: string, cure: string): Error =>
  invalid('setting_refused', `${id}: config data ${field} is refused in a tree of opencode; ${cure}`)
