/** What is left when the killing is over, as the store, git and the log tell it themselves. */
import { readFileSync } from 'node:fs'
import sqlite from '../../plugins/stores/sqlite/index.ts'
import type { Place } from './child.ts'
import { checkRepository } from './snapshot.ts'

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
