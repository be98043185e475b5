/** Refuses to write into folders of the original system and into an unfinished import. */
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isRemoteRepository, ORIGINAL, unavailable } from '../contract/index.ts'
import { removeFile, writeAtomicFile } from '../kit/index.ts'
import { isSourceFile } from './source/folder.ts'
import { gitObjects, gitRefs } from './source/git.ts'

/** Present while an import is unfinished: its partial data must not be trained on. */
const MARK = 'import.json'
/** How many refs are checked before a repository counts as ours. */
const REFS_LOOKED_AT = 20

export interface StoragePlaces {
  readonly agent_record_dir: string
  readonly artifact_repository: string
}

/** Throws before anything is written. */
export async function refuseOriginal(places: StoragePlaces): Promise<void> {
  const files = (await readdir(places.agent_record_dir).catch(() => [])).filter(isSourceFile)
  const refs = await originalRefs(places.artifact_repository)
  if (files.length === 0 && refs.length === 0) return
  const found = [
    ...(files.length === 0 ? [] : [`storage.agent_record_dir holds ${files.length} files such as ${files[0]}`]),
    ...(refs.length === 0 ? [] : [`storage.artifact_repository holds ${refs.length} refs such as ${refs[0]}`]),
  ]
  const command = `svc import reef --records ${word(files.length === 0 ? 'DIR' : places.agent_record_dir)} --artifacts ${word(refs.length === 0 ? 'DIR' : places.artifact_repository)}`
  throw unavailable(
    files.length === 0 ? 'original_repository' : 'original_records',
    `${found.join(' and ')}, which the system ${ORIGINAL.product} wrote: nothing of it was changed; set both keys to folders of this service's own, then import it with: ${command}`,
  )
}

/** A folder that is not a repository is reported when it is opened. */
async function originalRefs(repository: string): Promise<readonly string[]> {
  if (isRemoteRepository(repository) || !existsSync(join(repository, 'HEAD'))) return []
  const refs = await gitRefs(repository, ORIGINAL.allRefs).catch(() => new Map<string, string>())
  const own = [...refs.keys()].filter((ref) => ORIGINAL.refs.some((name) => name === ref))
  if (own.length > 0) return [...refs.keys()]
  const looked = [...refs].slice(0, REFS_LOOKED_AT)
  const manifests = await gitObjects(
    repository,
    looked.map(([, commit]) => `${commit}:${ORIGINAL.manifest}`),
  ).catch(() => [])
  return looked.flatMap(([ref], index) => (manifests[index]?.type === 'blob' ? [ref] : []))
}

const word = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`)

export function refuseUnfinished({ agent_record_dir }: StoragePlaces): void {
  if (!existsSync(join(agent_record_dir, MARK))) return
  throw unavailable(
    'import_unfinished',
    `an import into this folder was interrupted; run the same svc import reef again, which continues where it stopped, or remove ${MARK} there to serve what was imported so far`,
  )
}

/** The mark exists from the first write of an import to its last. Only `endImport` removes it, so a failed import stays marked. */
export const beginImport = ({ agent_record_dir }: StoragePlaces): Promise<void> =>
  writeAtomicFile(join(agent_record_dir, MARK), `${JSON.stringify({ from: ORIGINAL.product })}\n`)

export const endImport = ({ agent_record_dir }: StoragePlaces): Promise<void> => removeFile(join(agent_record_dir, MARK))
