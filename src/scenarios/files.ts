/** What a scenario keeps outside the store's rows. The creation row names its folder, so that a later scenario of the same name does not inherit it. */
import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  isRefusal,
  ownerOf,
  unavailable,
  unsupported,
  type Commit,
  type DocumentKind,
  type Documents,
  type Fence,
  type JsonObject,
  type ModelSettings,
  type OpenDocuments,
  type OwnEvolution,
  type SharedDocuments,
} from '../contract/index.ts'
import { FolderDocuments, knowPassingSecret, mkdirp, type Sealing } from '../kit/index.ts'
import { ownEvolutionSchema } from '../contract/wire/index.ts'
import { parseModelSettings } from './model.ts'

const MODEL_FILE = 'model.json'
const EVOLUTION_FILE = 'evolution.json'
const PRIVATE = 0o600

interface FileParts {
  /** The documents that all services of the deployment share. Absent: files of this machine. */
  readonly documents?: OpenDocuments | undefined
  /** Seals the keys of models. */
  readonly sealing?: Sealing | null | undefined
}

/** Of a recipe, as the configuration has it. */
interface RecipeFolders {
  readonly evolution: { readonly proposals_dir: string; readonly step_record_dir: string | null }
}

export class ScenarioFiles {
  readonly #directory: string
  readonly #shared: OpenDocuments | undefined
  readonly #sealing: Sealing | null

  constructor(directory: string, { documents, sealing = null }: FileParts = {}) {
    this.#directory = directory
    this.#shared = documents
    this.#sealing = sealing
  }

  folderOf(created: Pick<Commit, 'state'>): string {
    return join(this.#directory, 'scenarios', createdWith(created, 'folder'))
  }

  /** What all services share of this scenario; undefined where it is files of this machine. */
  sharedOf(created: Pick<Commit, 'state'>, fence?: Fence): SharedDocuments | undefined {
    const open = this.#shared
    return open && ((kind) => open(ownerOf(createdWith(created, 'folder'), kind), fence))
  }

  /** Null where it is not known where they are: folders outside the records are named by the recipe in the configuration. */
  documentsOf(created: Pick<Commit, 'state'>, kind: DocumentKind, recipes: Readonly<Record<string, RecipeFolders>>): Documents | null {
    const shared = this.sharedOf(created)
    if (shared !== undefined) return shared(kind)
    const folder = this.folderOf(created)
    if (kind === 'own') return new FolderDocuments(folder)
    const { recipe } = created.state
    const { evolution } = (typeof recipe === 'string' ? recipes[recipe] : undefined) ?? {}
    const place = kind === 'proposals' ? evolution?.proposals_dir : evolution?.step_record_dir
    return typeof place === 'string' ? new FolderDocuments(join(place, basename(folder))) : null
  }

  /** Unreadable settings must not count as absent: the scenario's calls would go to another model. */
  async readModel(created: Pick<Commit, 'state'>): Promise<ModelSettings | null> {
    try {
      const bytes = await this.#own(created).read(MODEL_FILE)
      if (bytes === null) return null
      const own = parseModelSettings(this.#opened(JSON.parse(Buffer.from(bytes).toString()), created))
      knowPassingSecret(own.api_key)
      return own
    } catch (cause) {
      if (isRefusal(cause) && cause.kind === 'unavailable') throw cause
      throw unavailable('settings_failed', 'the model settings of this scenario cannot be read; check the disk of the records', { cause })
    }
  }

  /** Readable by the owner alone, since it may hold the key. */
  async writeModel(created: Pick<Commit, 'state'>, own: ModelSettings | null): Promise<void> {
    knowPassingSecret(own?.api_key)
    const documents = this.#own(created)
    const kept = own === null ? null : `${JSON.stringify(this.#sealed(own, created))}\n`
    const change = kept === null ? documents.remove(MODEL_FILE) : documents.write(MODEL_FILE, kept)
    await change.catch((cause: unknown) => {
      if (isRefusal(cause)) throw cause
      throw unavailable('settings_failed', 'the model settings cannot be kept; check the disk of the records, then send it again', {
        cause,
      })
    })
  }

  /** Unreadable settings must not count as absent: they may be what keeps a scenario from spending more. */
  async readEvolution(created: Pick<Commit, 'state'>): Promise<OwnEvolution> {
    try {
      const bytes = await this.#own(created).read(EVOLUTION_FILE)
      return bytes === null ? {} : ownEvolutionSchema.parse(JSON.parse(Buffer.from(bytes).toString()))
    } catch (cause) {
      if (isRefusal(cause)) throw cause
      throw unavailable('settings_failed', 'the settings of this scenario cannot be read; check the disk of the records', { cause })
    }
  }

  async writeEvolution(created: Pick<Commit, 'state'>, own: OwnEvolution): Promise<void> {
    const documents = this.#own(created)
    const change =
      Object.keys(own).length === 0 ? documents.remove(EVOLUTION_FILE) : documents.write(EVOLUTION_FILE, `${JSON.stringify(own)}\n`)
    await change.catch((cause: unknown) => {
      if (isRefusal(cause)) throw cause
      throw unavailable('settings_failed', 'the settings cannot be kept; check the disk of the records, then send it again', { cause })
    })
  }

  /** Moves the folder to the archive, next to the records. A scenario without files has no folder. */
  async archive(created: Pick<Commit, 'state'>, beside: string): Promise<void> {
    await rename(this.folderOf(created), join(this.#directory, `${beside}.files`)).catch(() => undefined)
  }

  #own(created: Pick<Commit, 'state'>): Documents {
    return this.sharedOf(created)?.('own') ?? new FolderDocuments(this.folderOf(created), { mode: PRIVATE })
  }

  /** A key that leaves this machine is sealed; in a file of this machine it is where a key is configured. */
  #sealed({ api_key, ...own }: ModelSettings, created: Pick<Commit, 'state'>): JsonObject {
    if (api_key === undefined) return own
    if (this.#sealing !== null) return { ...own, [SEALED]: this.#sealing.seal(Buffer.from(api_key), contextOf(created)).toString('base64') }
    if (this.#shared === undefined) return { ...own, api_key }
    throw unsupported(
      'no_secret_key',
      'model.api_key: is kept in the database of all gateways, and only encrypted; set SVC_SECRET_KEY (storage.secret_key) on every gateway, then send it again',
    )
  }

  #opened({ [SEALED]: sealed, ...own }: JsonObject, created: Pick<Commit, 'state'>): JsonObject {
    if (typeof sealed !== 'string') return own
    const opened = this.#sealing?.open(Buffer.from(sealed, 'base64'), contextOf(created)) ?? { cannot: 'other_key' }
    if ('bytes' in opened) return { ...own, api_key: opened.bytes.toString() }
    const why =
      opened.cannot === 'damaged'
        ? 'is damaged; send the model settings again'
        : 'was encrypted with another key; set SVC_SECRET_KEY (storage.secret_key) to that key, also beside a newer one, or send the model settings again'
    throw unavailable('settings_failed', `the key in the model settings of this scenario ${why}`)
  }
}

/** Stands for `api_key`. */
const SEALED = 'sealed_api_key'

/** A key that is copied into the settings of another scenario does not open there. */
const contextOf = (created: Pick<Commit, 'state'>): string => `model ${createdWith(created, 'folder')}`

/** Moves a recipe's folder of the scenario to `archived/` next to it. */
export async function archiveFolder(folder: string, id: string): Promise<void> {
  if (!existsSync(folder)) return
  const archived = join(dirname(folder), 'archived')
  await mkdirp(archived)
  await rename(folder, join(archived, `${basename(folder)}-${id}`))
}

/** The release that a scenario was asked to start from and that is held for review; null where it started from it, or from its seed. */
export const heldStart = ({ state }: Pick<Commit, 'state'>): string | null => (typeof state['start'] === 'string' ? state['start'] : null)

/** The mark that tells a scenario from an earlier one of its name; null for the first of the name. */
export const lifeOf = (created: Pick<Commit, 'state'>): string | null =>
  created.state['later'] === true ? createdWith(created, 'folder') : null

/** A field of the creation row, which never changes. */
export function createdWith({ state }: Pick<Commit, 'state'>, what: 'recipe' | 'folder'): string {
  const value = state[what]
  if (typeof value === 'string') return value
  throw unavailable('store_damaged', `the creation row of a scenario names no ${what}; run svc verify`)
}
