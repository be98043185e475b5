/** What is left after the kills, as the store, git and the log report it. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import sqlite from '../../plugins/stores/sqlite/index.ts'
import type { Place } from './child.ts'

export interface Remains {
  /** One line per damaged record. */
  readonly damage: readonly string[]
  /** What git found wrong, if anything. */
  readonly fsck: readonly string[]
  /** Lines of the log about these events. */
  readonly logged: readonly string[]
}

export async function examine(place: Place, events: readonly string[]): Promise<Remains> {
  const store = await sqlite.plugin.make({ directory: place.records })
  const damage = await store.verify(() => undefined)
  await store.close()
  const fsck = await checkRepository(place)
  const lines = readFileSync(place.log, 'utf8').split('\n')
  return {
    damage: damage.map(({ scenario, agent_record_id: id, problem }) => `${scenario} ${id}: ${problem}`),
    fsck: fsck === '' ? [] : [`git fsck: ${fsck}`],
    logged: lines.filter((line) => events.some((event) => line.includes(`"event":"${event}"`))),
  }
}

/** What git itself finds wrong with the repository; empty when it is whole. */
export async function checkRepository({ repository }: Pick<Place, 'repository'>): Promise<string> {
  try {
    const { stdout, stderr } = await promisify(execFile)('git', [`--git-dir=${repository}`, 'fsck', '--full', '--strict', '--no-dangling'])
    return `${stdout}${stderr}`
      .split('\n')
      .filter((line) => /error|missing|broken|corrupt/i.test(line))
      .join('; ')
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
