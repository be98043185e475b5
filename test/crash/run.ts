/**
 * Kills the service again and again under traffic and checks after every restart that nothing acknowledged was lost, doubled or altered:
 * `node test/crash/run.ts --kills 50 [--seed S] [--json]`. Ends with code 1 on the first broken promise, and says how to see it again.
 */
import { startUpstream } from '../support/upstream.ts'
import { placeIn } from './child.ts'
import { runCrashCommand } from './command.ts'
import { Ordeal } from './ordeal.ts'

await runCrashCommand({
  script: 'test:crash',
  kills: 50,
  async open(directory, seed) {
    const place = placeIn(directory)
    const upstream = await startUpstream()
    const ordeal = new Ordeal(place, upstream, seed)
    return {
      place,
      ordeal,
      never: ['failure'],
      rules: { store: 'altered', releases: 'release chain' },
      summary() {
        const { kills, acknowledged, rows, bodies } = ordeal.outcome()
        return `${kills} kills, ${acknowledged} acknowledged, ${rows} rows and ${bodies} bodies judged`
      },
      close: () => upstream.close(),
    }
  },
})
