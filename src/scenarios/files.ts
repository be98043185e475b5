/** A scenario's folder outside the store. The creation row names it, so that a later scenario of the same name does not inherit it. */
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { unavailable, type Commit, type JsonObject, type ModelSettings } from '../contract/index.ts'
import { hasCode, knowPassingSecret, removeFile, writeAtomicFile } from '../kit/index.ts'
import { parseModelSettings } from './model.ts'

const MODEL_FILE = 'model.json'

export class ScenarioFiles {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  folderOf(created: Pick<Commit, 'state'>): string {
    return join(this.#directory, 'scenarios', createdWith(created, 'folder'))
  }

  /** Unreadable settings must not count as absent: the scenario's calls would go to another model. */
  async readModel(created: Commit): Promise<ModelSettings | null> {
    try {
      const settings: JsonObject = JSON.parse(await readFile(join(this.folderOf(created), MODEL_FILE), 'utf8'))
      const own = parseModelSettings(settings)
      knowPassingSecret(own.api_key)
      return own
    } catch (cause) {
      if (hasCode(cause, 'ENOENT')) return null
      throw unavailable('settings_failed', 'the model settings of this scenario cannot be read; check the disk of the records', { cause })
    }
  }

  /** Mode 0600, since the file holds the key. */
  async writeModel(created: Pick<Commit, 'state'>, own: ModelSettings | null): Promise<void> {
    const path = join(this.folderOf(created), MODEL_FILE)
    knowPassingSecret(own?.api_key)
    const change = own === null ? removeFile(path) : writeAtomicFile(path, `${JSON.stringify(own)}\n`, 0o600)
    await change.catch((cause: unknown) => {
      throw unavailable('settings_failed', 'the model settings cannot be kept; check the disk of the records, then send it again', {
        cause,
      })
    })
  }

  /** Moves the folder to the archive, next to the records. A scenario without files has no folder. */
  async archive(created: Pick<Commit, 'state'>, beside: string): Promise<void> {
    await rename(this.folderOf(created), join(this.#directory, `${beside}.files`)).catch(() => undefined)
  }
}

/** Moves a recipe's folder of the scenario to `archived/` next to it. */
export async function archiveFolder(folder: string, id: string): Promise<void> {
  if (!existsSync(folder)) return
  const archived = join(dirname(folder), 'archived')
  await mkdir(archived, { recursive: true })
  await rename(folder, join(archived, `${basename(folder)}-${id}`))
}

/** The release that a scenario was asked to start from and that is held for review; null where it started from it, or from its seed. */
export const heldStart = ({ state }: Pick<Commit, 'state'>): string | null => (typeof state['start'] === 'string' ? state['start'] : null)

/** A field of the creation row, which never changes. */
export function createdWith({ state }: Pick<Commit, 'state'>, what: 'recipe' | 'folder'): string {
  const value = state[what]
  if (typeof value === 'string') return value
  throw unavailable('store_damaged', `the creation row of a scenario names no ${what}; run svc verify`)
}
