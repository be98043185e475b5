/** Where the value of the tag may be besides records: in files of steps and agents, and in releases. They are a person's to read, and to remove. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Commit, ContentStore, DocumentKind, Documents, SearchedPlace, Store } from '../contract/index.ts'
import type { KeptFiles, RecipeFolders } from './derived.ts'

/** Larger ones are no texts of the service. */
const FILE_BYTES_MAX = 64 * 1024 * 1024
const ROWS_PER_READ = 100
const IN_RELEASES = 'the value of the tag in files of releases'

type Mentions = (text: string) => boolean

export function placesOfFiles(recordsFolder: string, recipes: RecipeFolders, mentions: Mentions): readonly SearchedPlace[] {
  const made = Object.values(recipes).flatMap(({ evolution }) => [evolution.proposals_dir, evolution.step_record_dir ?? ''])
  const folders = [...new Set([join(recordsFolder, 'scenarios'), ...made])].filter((folder) => existsSync(folder))
  return folders.flatMap((folder) => {
    const files = globSync('**/*', { cwd: folder })
      .map((file) => join(folder, file))
      .filter(isSearched)
    const left = files.filter((file) => mentions(readFileSync(file, 'utf8')))
    const searched = 'the value of the tag in files'
    return left.length === 0 ? [{ place: folder, searched, found: 0 }] : left.map((place) => ({ place, searched, found: 1 }))
  })
}

/** A link may lead nowhere. */
function isSearched(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false })
  return found?.isFile() === true && found.size <= FILE_BYTES_MAX
}

const KINDS: readonly DocumentKind[] = ['own', 'proposals', 'steps']
const IN_DOCUMENTS = 'the value of the tag in what scenarios keep encrypted'

/** What is encrypted is read as the service reads it: its files say nothing. */
export async function placesOfDocuments(store: Store, files: KeptFiles, mentions: Mentions): Promise<readonly SearchedPlace[]> {
  const left: SearchedPlace[] = []
  let read = 0
  for (const scenario of await store.scenarios()) {
    const [created] = await store.scenario(scenario).commits({ after: -1, limit: 1 })
    const open = created === undefined || typeof created.state['folder'] !== 'string' ? undefined : files.sharedOf(created)
    if (open === undefined) continue
    for (const kind of KINDS)
      for await (const [path, text] of textsIn(open(kind), '')) {
        read += 1
        if (mentions(text)) left.push({ place: `${scenario}: ${kind}/${path}`, searched: IN_DOCUMENTS, found: 1 })
      }
  }
  return left.length === 0 ? [{ place: `${read} documents`, searched: IN_DOCUMENTS, found: 0 }] : left
}

async function* textsIn(documents: Documents, folder: string): AsyncGenerator<readonly [path: string, text: string]> {
  for (const { name, isFolder } of await documents.list(folder)) {
    const path = folder === '' ? name : `${folder}/${name}`
    if (isFolder) yield* textsIn(documents, path)
    else yield [path, Buffer.from((await documents.read(path)) ?? []).toString()]
  }
}

export async function placesOfReleases(
  store: Store,
  contents: Pick<ContentStore, 'read'>,
  mentions: Mentions,
): Promise<readonly SearchedPlace[]> {
  const left: SearchedPlace[] = []
  let read = 0
  for (const scenario of await store.scenarios()) {
    for (let after = -1; ;) {
      const rows = await store.scenario(scenario).chain({ after, limit: ROWS_PER_READ })
      for (const row of rows) {
        read += 1
        const texts = await Promise.all(contentIds(row).map(async (id) => Object.values(await contents.read(id))))
        if (texts.flat().some(mentions)) left.push({ place: `release of step ${row.step} in ${scenario}`, searched: IN_RELEASES, found: 1 })
      }
      after = rows.at(-1)?.step ?? after
      if (rows.length === 0) break
    }
  }
  return left.length === 0 ? [{ place: `${read} releases`, searched: IN_RELEASES, found: 0 }] : left
}

const contentIds = ({ release }: Commit): readonly string[] =>
  release === null ? [] : Object.values(release.components ?? { '': release.content_id })
