/** A scenario's model settings without the key, which the owner sets again. The file is recognised by its content. */
import { basename } from 'node:path'
import { isRefusal } from '../../contract/index.ts'
import { parseModelSettings } from '../../scenarios/index.ts'
import { readSettings } from '../source/folder.ts'

export type ModelSettingsFile = ReturnType<typeof parseModelSettings>

export type FoundSettings = { readonly settings: ModelSettingsFile; readonly words: string } | { readonly problem: string }

export async function findSettings(paths: readonly string[]): Promise<FoundSettings> {
  const read = await Promise.all(paths.map(async (path) => ({ path, found: await readSettings(path).catch(() => null) })))
  const [first, ...others] = read.flatMap(({ path, found }) => (found === null ? [] : [{ path, ...found }]))
  if (first === undefined) return { problem: `its model settings cannot be read from ${namesOf(paths)}` }
  if (others.length > 0) {
    const all = [first, ...others].map(({ path }) => path)
    return { problem: `its model settings may be those of ${namesOf(all)}: none are imported; set them with the update route` }
  }
  const { path, hadKey } = first
  try {
    const settings = parseModelSettings(first.settings)
    const taken = `its model settings (${Object.keys(settings).join(', ')}) are those of ${namesOf([path])}`
    return { settings, words: hadKey ? `${taken}, without the key: send it again with the update route` : taken }
  } catch (error) {
    return { problem: `its model settings are not taken here: ${isRefusal(error) ? error.message : 'they are no settings'}` }
  }
}

const namesOf = (paths: readonly string[]): string => paths.map((path) => basename(path)).join(', ')
