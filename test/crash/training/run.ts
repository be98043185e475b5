/**
 * Kills a service that learns again and again and checks after every restart that each report and instruction was learned from once, that no
 * row ever changes, and that every release holds what its row says: `node test/crash/training/run.ts --kills 200 [--seed S] [--json]`.
 * Ends with code 1 on the first broken promise, and says how to see it again.
 */
import { placeIn } from '../child.ts'
import { runCrashCommand } from '../command.ts'
import { Ordeal } from './ordeal.ts'

await runCrashCommand({
  script: 'test:crash:training',
  kills: 200,
  open(directory, seed) {
    const place = placeIn(directory)
    const ordeal = new Ordeal(place, seed)
    return {
      place,
      ordeal,
      // On a sound machine nothing but the kills goes wrong, and no step fails to land.
      never: ['failure', 'background_error'],
      rules: { store: 'lost', releases: 'unreadable' },
      summary() {
        const { kills, acknowledged, removed, rows, early } = ordeal.outcome()
        return `${kills} kills (${early} before all was at rest), ${acknowledged} acknowledged, ${removed} removed, ${rows} rows`
      },
    }
  },
})
