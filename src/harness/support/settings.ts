/** Refusing settings that a tree may not hold: they would choose the model in the service's place, or undo what is set for every tree. */
import { invalid, isObject, type Entry, type JsonObject } from '../../contract/index.ts'

export const NAMES_MODEL = 'the service names the model; remove the field'
export const IS_FIXED = 'it is set for every tree; remove the field'
export const LOADS_CODE = 'it loads code from outside the tree; write the code as a code_extension entry and remove the field'

/** What one entry sets. */
export interface Setting {
  readonly id: string
  readonly target: string
  readonly data: JsonObject
}

/** One by one, since the merged settings no longer say whose a field was. */
export function settingsIn(entries: readonly Entry[]): readonly Setting[] {
  return entries
    .filter(({ name }) => name === 'config')
    .map(({ id, config: { target, data } }) => ({
      id,
      target: typeof target === 'string' ? target : 'primary',
      data: isObject(data) ? data : {},
    }))
}

export const settingRefused = (id: string, field: string, cure: string): Error =>
  invalid('setting_refused', `${id}: config.data.${field} is refused: ${cure}`)

/** `refused` has the cure of each field. */
export function refuseFields({ id, data }: Setting, refused: ReadonlyMap<string, string>): void {
  for (const [field, cure] of refused) if (Object.hasOwn(data, field)) throw settingRefused(id, field, cure)
}

/** Of an agent whose other settings could lead its requests elsewhere. `within` is the field that holds `data`. */
export function refuseOthers(id: string, data: JsonObject, known: readonly string[], within?: string): void {
  const other = Object.keys(data).find((field) => !known.includes(field))
  if (other === undefined) return
  throw settingRefused(id, within === undefined ? other : `${within}.${other}`, `a tree may set: ${known.join(', ')}`)
}
