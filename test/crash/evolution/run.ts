/**
 * Kills a service that evolves again and again and checks that each report, instruction and proposal is settled once, that every release is
 * what its row says, and that no process or folder of an episode is left: `node test/crash/evolution/run.ts --kills 60 [--seed S] [--json]`.
 * Ends with code 1 on the first broken promise, and says how to see it again.
 */
import { runCrashCommand } from '../command.ts'
import { Ordeal } from './ordeal.ts'
import { sceneIn } from './scene.ts'

await runCrashCommand({
  script: 'test:crash:evolution',
  kills: 60,
  open(directory, seed) {
    const place = sceneIn(directory)
    const ordeal = new Ordeal(place, seed)
    return {
      place,
      ordeal,
      // On a sound machine nothing but the kills goes wrong, and no step fails to land.
      never: ['failure', 'background_error'],
      rules: { store: 'lost', releases: 'tree' },
      summary() {
        const { kills, midEpisode, acknowledged, admitted, rows, published } = ordeal.outcome()
        const endured = `${kills} kills (${midEpisode} while episodes ran), ${acknowledged} acknowledged`
        return `${endured}, ${admitted} proposals admitted, ${rows} rows, ${published} published`
      },
    }
  },
})
