/**
 * What an export of a scenario has written, in one object beside the files. A range is noted before its file is written and listed afterwards,
 * so that a run that was killed in between is gone on with under the same name.
 */
import { hash } from 'node:crypto'
import { conflict, invalid, type ObjectFolder } from '../../contract/index.ts'
import { jsonText } from '../screen/text.ts'

const FORMAT = 1
const NAME = 'manifest.json'
/** A longer name does not fit into the name of a folder. */
const FOLDER_CHARACTERS_MAX = 120

export type ExportFormat = 'jsonl' | 'parquet'

export interface ExportedRange {
  readonly first: number
  readonly last: number
}
export interface ExportedFile extends ExportedRange {
  readonly name: string
  readonly records: number
  readonly bytes: number
  readonly sha256: string
}
export interface ExportManifest {
  readonly format: typeof FORMAT
  readonly scenario: string
  readonly files_are: ExportFormat
  /** Records up to here are not part of it. */
  readonly after_sequence: number
  /** The id of the last exported record: another scenario under the same name has another one. */
  readonly last_record_id: string | null
  readonly writing: ExportedRange | null
  readonly files: readonly ExportedFile[]
}

export const throughOf = ({ files, after_sequence }: ExportManifest): number => files.at(-1)?.last ?? after_sequence

export class ManifestBook {
  readonly #place: ObjectFolder
  readonly #name: string
  #tag: string | null
  value: ExportManifest | null

  private constructor(place: ObjectFolder, name: string, value: ExportManifest | null, tag: string | null) {
    this.#place = place
    this.#name = name
    this.value = value
    this.#tag = tag
  }

  static async open(place: ObjectFolder, folder: string): Promise<ManifestBook> {
    const name = `${folder}/${NAME}`
    const found = await place.get(name)
    return new ManifestBook(place, name, found === null ? null : manifestIn(found.bytes, name), found?.tag ?? null)
  }

  /** Throws where another export changed it meanwhile. */
  async write(value: ExportManifest): Promise<void> {
    const bytes = Buffer.from(`${jsonText(value, 2)}\n`)
    const isWritten =
      this.#tag === null ? await this.#place.create(this.#name, bytes) : await this.#place.replace(this.#name, bytes, this.#tag)
    const found = await this.#place.get(this.#name)
    // An attempt whose answer was lost may have written it.
    if (found === null || (!isWritten && !Buffer.from(found.bytes).equals(bytes)))
      throw conflict('two_exports', 'another export writes to the same place: wait until it is done, and run this again')
    this.#tag = found.tag
    this.value = value
  }
}

/** A name may be any text: in a path it is encoded, and never one that leads elsewhere. */
export function folderOf(scenario: string): string {
  const encoded = encodeURIComponent(scenario).replace(/^\./, '%2E')
  return encoded.length <= FOLDER_CHARACTERS_MAX
    ? encoded
    : `${encoded.slice(0, FOLDER_CHARACTERS_MAX / 2)}-${hash('sha256', scenario).slice(0, 32)}`
}

export const emptyManifest = (scenario: string, files: ExportFormat, after: number): ExportManifest => ({
  format: FORMAT,
  scenario,
  files_are: files,
  after_sequence: after,
  last_record_id: null,
  writing: null,
  files: [],
})

function manifestIn(bytes: Uint8Array, name: string): ExportManifest {
  try {
    const value: ExportManifest = JSON.parse(Buffer.from(bytes).toString())
    if (value.format === FORMAT && Array.isArray(value.files)) return value
  } catch {
    // Told below.
  }
  throw invalid('bad_manifest', `${name} is no manifest of an export: name another place, or remove it and the files beside it`)
}
