/** Settings inside the writer's transaction. */
import type { DatabaseSync } from 'node:sqlite'
import type { ScenarioSettings } from '../../../../src/contract/index.ts'
import type { Changes } from './changes.ts'
import type { StoreLedger } from './ledger.ts'

type Configure = (scenario: string, settings: Partial<ScenarioSettings>) => null

export function makeConfigure(db: DatabaseSync, ledger: StoreLedger, changes: Changes): Configure {
  const setMode = db.prepare(
    'INSERT INTO setting (scenario, training_mode) VALUES (?, ?) ON CONFLICT (scenario) DO UPDATE SET training_mode = excluded.training_mode',
  )
  return (scenario, { training_mode }) => {
    const { key } = ledger.open(scenario)
    if (training_mode !== undefined) setMode.run(key, training_mode)
    changes.add({ kind: 'settings', scenario })
    return null
  }
}
