/** Where the value of the tag may be besides records: in files of steps and agents, and in releases. They are a person's to read, and to remove. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Commit, ContentStore, SearchedPlace, Store } from '../contract/index.ts'
import type { RecipeFolders } from './derived.ts'

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
