/** The model settings of a scenario: everything but the key, which its owner sets again. */
import { isRefusal } from '../../contract/index.ts'
import { parseModelSettings } from '../../scenarios/index.ts'
import { readSettings } from '../source/folder.ts'

export type ModelSettingsFile = ReturnType<typeof parseModelSettings>

export type FoundSettings = { readonly settings: ModelSettingsFile; readonly hadKey: boolean } | { readonly problem: string }

export async function findSettings(path: string): Promise<FoundSettings> {
  const found = await readSettings(path).catch(() => null)
  if (found === null) return { problem: 'its model settings cannot be read' }
  try {
    return { settings: parseModelSettings(found.settings), hadKey: found.hadKey }
  } catch (error) {
    return { problem: `its model settings are not taken here: ${isRefusal(error) ? error.message : 'they are no settings'}` }
  }
}
