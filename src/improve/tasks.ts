/** The tasks of a run: copied, so that what a run is measured by stays the same, and without the harness that the repository held at the time. */
import { cp, readdir, rename, rm } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { invalid } from '../contract/index.ts'
import { readTaskFolder, TASKS_MAX } from '../evolution/index.ts'
import { codeOf, mkdirp } from '../kit/index.ts'
import type { HarnessPlaces } from './agents.ts'
import { isHarnessPath } from './harness-files.ts'

const WORKSPACE = 'workspace'

/**
 * An agent would read the old rules of a workspace beside the ones that are measured. `below` is where those lie below the top of the repository:
 * '' or 'packages/one/'.
 */
export async function copyTasks(from: string, to: string, places: HarnessPlaces, below = ''): Promise<void> {
  const names = await namesIn(from)
  // Before anything is copied: a folder that was named by mistake may hold a whole disk.
  await readTaskFolder(from, TASKS_MAX)
  const beside = `${to}.new`
  await rm(beside, { recursive: true, force: true })
  await mkdirp(beside)
  for (const name of names) {
    const workspace = join(from, name, WORKSPACE)
    await cp(join(from, name), join(beside, name), {
      recursive: true,
      filter: (path) => !isOldHarness(places, below, relative(workspace, path).split(sep).join('/')),
    })
  }
  await rm(to, { recursive: true, force: true })
  await rename(beside, to)
}

const isOldHarness = (places: HarnessPlaces, below: string, path: string): boolean =>
  isHarnessPath(places, path) || (path.startsWith(below) && isHarnessPath(places, path.slice(below.length)))

async function namesIn(folder: string): Promise<readonly string[]> {
  const listed = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw invalid('no_tasks', `the folder of the tasks cannot be read (${codeOf(error) ?? 'unreadable'}); name another with --tasks-dir`)
  })
  return listed.filter((each) => each.isDirectory() && !each.name.startsWith('.')).map(({ name }) => name)
}
