/** What a scenario keeps outside the store: a folder of its own, named in its creation row, so that no later scenario of its name inherits it. */
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { unavailable, type Commit, type JsonObject } from '../contract/index.ts'
import { removeFile, writeAtomicFile } from '../kit/index.ts'
import { createdWith } from './creation.ts'
import { parseModelSettings, type ModelSettings } from './model.ts'

const MODEL_FILE = 'model.json'

export class ScenarioFiles {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  folderOf(created: Pick<Commit, 'state'>): string {
    return join(this.#directory, 'scenarios', createdWith(created, 'folder'))
  }

  /** Settings that are there and cannot be read are not the same as none: the scenario's calls would go elsewhere. */
  async readModel(created: Commit): Promise<ModelSettings | null> {
    try {
      const settings: JsonObject = JSON.parse(await readFile(join(this.folderOf(created), MODEL_FILE), 'utf8'))
      return parseModelSettings(settings)
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
      throw unavailable('settings_failed', 'the model settings of this scenario cannot be read; check the disk of the records', { cause })
    }
  }

  /** Readable by the owner alone: the key is in it. */
  async writeModel(created: Pick<Commit, 'state'>, own: ModelSettings | null): Promise<void> {
    const path = join(this.folderOf(created), MODEL_FILE)
    const change = own === null ? removeFile(path) : writeAtomicFile(path, `${JSON.stringify(own)}\n`, 0o600)
    await change.catch((cause: unknown) => {
      throw unavailable('settings_failed', 'the model settings cannot be kept; check the disk of the records, then send it again', {
        cause,
      })
    })
  }

  /** Follows its scenario into the archive, beside its records; a scenario that kept nothing has no folder. */
  async archive(created: Pick<Commit, 'state'>, beside: string): Promise<void> {
    await rename(this.folderOf(created), join(this.#directory, `${beside}.files`)).catch(() => undefined)
  }
}

/** A folder that a recipe keeps for its scenario follows it too, under an `archived/` beside it; one that was never made has nothing to move. */
export async function archiveFolder(folder: string, id: string): Promise<void> {
  if (!existsSync(folder)) return
  const archived = join(dirname(folder), 'archived')
  await mkdir(archived, { recursive: true })
  await rename(folder, join(archived, `${basename(folder)}-${id}`))
}
