/**
 * What was made of a person's records: mined tasks, and the files of the steps that used them. They are found by the receipts, so they go
 * before the records: a run that was killed finds them again.
 */
import { globSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  MINED_FILE,
  type Commit,
  type DocumentKind,
  type Documents,
  type Forgotten,
  type SharedDocuments,
  type Store,
} from '../contract/index.ts'

export interface Derived {
  /** Folders of tasks. */
  readonly tasks: number
  /** Folders of steps. */
  readonly step_records: number
}

/** Where the recipes of the deployment keep what their steps make. */
export type RecipeFolders = Readonly<
  Record<
    string,
    { readonly evolution: { readonly tasks_dir: string | null; readonly proposals_dir: string; readonly step_record_dir: string | null } }
  >
>

/** What scenarios keep beside the rows. */
export interface KeptFiles {
  documentsOf(created: Commit, kind: DocumentKind, recipes: RecipeFolders): Documents | null
  /** Undefined where they are files of this machine, in the clear. */
  sharedOf(created: Commit): SharedDocuments | undefined
}

const STEPS_PER_READ = 100

export async function forgetDerived(
  { store, files, recipes }: { readonly store: Store; readonly files: KeptFiles; readonly recipes: RecipeFolders },
  ids: Forgotten['ids'],
  isTrial: boolean,
): Promise<Derived> {
  if (ids.length === 0) return { tasks: 0, step_records: 0 }
  const tasks = tasksOf(recipes, new Set(ids.map(({ agent_record_id }) => agent_record_id)))
  if (!isTrial) for (const folder of tasks) await rm(folder, { recursive: true, force: true })
  let removed = 0
  for (const [name, records] of Map.groupBy(ids, ({ scenario }) => scenario)) {
    const scenario = store.scenario(name)
    const [created] = await scenario.commits({ after: -1, limit: 1 })
    if (created === undefined || typeof created.state['folder'] !== 'string') continue
    const documents = files.documentsOf(created, 'steps', recipes)
    if (documents === null) continue
    const kept = await documents.list('')
    const receipts = records.map(({ agent_record_id }) => agent_record_id)
    for await (const step of stepsWith(scenario, receipts)) {
      // A step that was repeated has a folder with another number behind.
      const folders = kept.filter((each) => each.name === String(step) || each.name.startsWith(`${step}-`))
      for (const folder of isTrial ? [] : folders) await documents.remove(folder.name)
      removed += folders.length
    }
  }
  return { tasks: tasks.length, step_records: removed }
}

/** Folders of tasks whose `mined.yaml` has one of the receipts as a word. */
function tasksOf(recipes: RecipeFolders, ids: ReadonlySet<string>): readonly string[] {
  const folders = new Set(Object.values(recipes).flatMap(({ evolution }) => evolution.tasks_dir ?? []))
  return [...folders].flatMap((folder) =>
    globSync(join('*', MINED_FILE), { cwd: folder })
      .filter((file) =>
        readFileSync(join(folder, file), 'utf8')
          .split(/[^\w.:-]+/)
          .some((word) => ids.has(word)),
      )
      .map((file) => dirname(join(folder, file))),
  )
}

async function* stepsWith(scenario: ReturnType<Store['scenario']>, ids: readonly string[]): AsyncGenerator<Commit['step']> {
  for (let after = -1; ;) {
    const rows = await scenario.commits({ after, limit: STEPS_PER_READ, ids })
    yield* rows.map(({ step }) => step)
    const last = rows.at(-1)
    if (last === undefined) return
    after = last.step
  }
}
