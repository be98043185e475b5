/**
 * What was made of a person's records: mined tasks, and the files of the steps that used them. They are found by the receipts, so they go
 * before the records: a run that was killed finds them again.
 */
import { globSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { LoadedConfig } from '../config/index.ts'
import type { Commit, Forgotten, Store } from '../contract/index.ts'
import { MINED_FILE } from '../evolution/index.ts'
import { documentsOf } from './copy/documents.ts'
import type { ServiceModule } from './surroundings.ts'

export interface Derived {
  /** Folders of tasks. */
  readonly tasks: number
  /** Folders of steps. */
  readonly step_records: number
}

const STEPS_PER_READ = 100

export async function forgetDerived(
  service: ServiceModule,
  loaded: LoadedConfig,
  ids: Forgotten['ids'],
  isTrial: boolean,
): Promise<Derived> {
  if (ids.length === 0) return { tasks: 0, step_records: 0 }
  const tasks = tasksOf(loaded, new Set(ids.map(({ agent_record_id }) => agent_record_id)))
  if (!isTrial) for (const folder of tasks) await rm(folder, { recursive: true, force: true })
  const store = await service.openStore(loaded)
  try {
    return { tasks: tasks.length, step_records: await forgetSteps(service, loaded, store, ids, isTrial) }
  } finally {
    await store.close()
  }
}

/** Folders of tasks whose `mined.yaml` has one of the receipts as a word. */
function tasksOf({ config }: LoadedConfig, ids: ReadonlySet<string>): readonly string[] {
  const folders = new Set(Object.values(config.recipes).flatMap(({ evolution }) => evolution.tasks_dir ?? []))
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

async function forgetSteps(
  service: ServiceModule,
  loaded: LoadedConfig,
  store: Store,
  ids: Forgotten['ids'],
  isTrial: boolean,
): Promise<number> {
  const files = service.openScenarioFiles(loaded, store)
  let removed = 0
  for (const [name, records] of Map.groupBy(ids, ({ scenario }) => scenario)) {
    const scenario = store.scenario(name)
    const [created] = await scenario.commits({ after: -1, limit: 1 })
    if (created === undefined || typeof created.state['folder'] !== 'string') continue
    const documents = documentsOf({ files, loaded, isDeployment: true }, created, 'steps')
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
  return removed
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
