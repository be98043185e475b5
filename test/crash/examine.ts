/** What is left after the kills, as the store, git and the log report it. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import sqlite from '../../plugins/stores/sqlite/index.ts'
import type { Place } from './child.ts'

export async function examine(place: Place, events: readonly string[]) {
  const store = await sqlite.plugin.make({ directory: place.records })
  const damage = await store.verify(() => undefined)
  await store.close()
  const fsck = await checkRepository(place)
  const lines = readFileSync(place.log, 'utf8').split('\n')
  return {
    /** One line per damaged record. */
    damage: damage.map(({ scenario, agent_record_id: id, problem }) => `${scenario} ${id}: ${problem}`),
    fsck: fsck === '' ? [] : [`git fsck: ${fsck}`],
    /** Lines of the log about these events. */
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
