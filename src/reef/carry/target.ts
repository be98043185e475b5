/** The target of an import: the store, the artifact repository and the scenario folders, or nothing in a trial run. */
import type { Commit, Content, ContentStore, Files, NewRecord, Release, RequestType, SealMark, Store } from '../../contract/index.ts'
import type { parseModelSettings } from '../../scenarios/index.ts'

type ModelSettingsFile = ReturnType<typeof parseModelSettings>

export interface Target {
  /** Every row of the scenario, oldest first; empty when it does not exist. */
  rows(scenario: string): Promise<readonly Commit[]>
  commit(scenario: string, row: Commit): Promise<void>
  append(scenario: string, records: readonly NewRecord[]): Promise<void>
  count(scenario: string, type: RequestType): Promise<number>
  write(content: Content): Promise<string>
  /** The texts of content that is there already. */
  read(contentId: string): Promise<Files>
  seal(contentId: string, parent: Release | null, mark: SealMark): Promise<Release>
  point(scenario: string, head: Release, held: readonly Release[]): Promise<void>
  settings(created: Commit, settings: ModelSettingsFile): Promise<void>
}

const ROWS_PER_READ = 100
const RECORDS_PER_READ = 1000

export interface TargetFolders {
  readonly store: Store
  readonly contents: ContentStore
  readonly writeModel: (created: Commit, settings: ModelSettingsFile) => Promise<void>
}

export function realTarget({ store, contents, writeModel }: TargetFolders): Target {
  return {
    async rows(scenario) {
      if (!(await store.scenarios()).includes(scenario)) return []
      const rows: Commit[] = []
      for (;;) {
        const page = await store.scenario(scenario).commits({ after: rows.at(-1)?.step ?? -1, limit: ROWS_PER_READ })
        if (page.length === 0) return rows
        rows.push(...page)
      }
    },
    commit: (scenario, row) => store.scenario(scenario).commit(row),
    append: async (scenario, records) => void (await store.scenario(scenario).append(records)),
    async count(scenario, type) {
      let count = 0
      for (let after = 0; ;) {
        const page = await store.scenario(scenario).records({ after, limit: RECORDS_PER_READ, type })
        const last = page.at(-1)
        if (last === undefined) return count
        count += page.length
        after = last.sequence
      }
    },
    write: (content) => contents.write(content),
    read: (contentId) => contents.read(contentId),
    seal: (contentId, parent, mark) => contents.seal(contentId, parent, mark),
    async point(scenario, head, held) {
      await Promise.all([contents.point(scenario, head), ...held.map((release) => contents.hold(release))])
    },
    settings: writeModel,
  }
}

/** Reads and checks everything, and keeps nothing. */
export function trialTarget(): Target {
  let sealed = 0
  let written = 0
  return {
    rows: () => Promise.resolve([]),
    commit: () => Promise.resolve(),
    append: () => Promise.resolve(),
    count: () => Promise.resolve(0),
    write: () => Promise.resolve(`trial-${(written += 1)}`),
    read: () => Promise.resolve({}),
    seal: (content_id, parent) =>
      Promise.resolve({ release_id: `trial-${(sealed += 1)}`, parent_release_id: parent?.release_id ?? null, content_id }),
    point: () => Promise.resolve(),
    settings: () => Promise.resolve(),
  }
}
