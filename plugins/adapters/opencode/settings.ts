/** Settings that a tree of opencode may not hold: they would choose the model in the service's place, tell others of a session, or read what is the person's. */
import { isObject, type Entry, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { IS_FIXED, LOADS_CODE, NAMES_MODEL, refuseFields, settingRefused, settingsIn } from '../../../src/harness/index.ts'

/** Sessions stay on the machine, the program stays the pinned one, and nobody but the service answers. */
export const DEFAULTS: JsonObject = { autoupdate: false, enabled_providers: ['svc'], permission: 'allow', share: 'disabled' }

const REFUSED: ReadonlyMap<string, string> = new Map([
  ['model', NAMES_MODEL],
  ['small_model', NAMES_MODEL],
  ['provider', NAMES_MODEL],
  ['enabled_providers', NAMES_MODEL],
  ['disabled_providers', NAMES_MODEL],
  ['enterprise', NAMES_MODEL],
  ['autoupdate', IS_FIXED],
  ['share', IS_FIXED],
  ['autoshare', IS_FIXED],
  ['plugin', LOADS_CODE],
])
/** Fields that hold things by name, each of which may ask for a model of its own. */
const NAMED: readonly string[] = ['agent', 'mode', 'command']

export function refuseForeignSettings(entries: readonly Entry[]): void {
  for (const setting of settingsIn(entries)) {
    refuseFields(setting, REFUSED)
    refuseModels(setting.id, setting.data)
    refuseReading(setting.id, setting.data, [])
  }
}

function refuseModels(id: string, data: JsonObject): void {
  for (const field of NAMED)
    for (const [name, one] of Object.entries(objectIn(data, field)))
      if (isObject(one) && Object.hasOwn(one, 'model')) throw settingRefused(id, `${field}.${name}.model`, NAMES_MODEL)
}

function objectIn(data: JsonObject, field: string): JsonObject {
  const value = data[field]
  return isObject(value) ? value : {}
}

/** opencode puts variables and files of the machine in the place of these words, from where they would reach the model. */
function refuseReading(id: string, value: Json, path: readonly string[]): void {
  if (typeof value === 'string' && /\{(?:env|file):/.test(value))
    throw settingRefused(id, path.join('.'), 'it reads a variable or a file of the machine with {env:…} or {file:…}; write the text itself')
  if (Array.isArray(value)) value.forEach((item: Json, index) => refuseReading(id, item, [...path, String(index)]))
  if (!isObject(value)) return
  for (const [key, member] of Object.entries(value)) {
    refuseReading(id, key, path)
    refuseReading(id, member, [...path, key])
  }
}
