/** A process that publishes until it is killed, and prints what was acknowledged. Arguments: the configuration as JSON, scenario, rounds. */
import git from './index.ts'

const [config, scenario, rounds] = process.argv.slice(2)
const store = await git.plugin.make(JSON.parse(config))
let parent = null
for (let step = 0; step < Number(rounds); step += 1) {
  const files = { shared: `the same in every process ${step}`, [`own/${scenario}`]: `${step}`, 'deep/er/file': 'x'.repeat(step) }
  const contentId = await store.write({ kind: 'files', files })
  parent = await store.seal(contentId, parent, { step, operation: 'train', at: 1_763_180_000 })
  process.stdout.write(`${JSON.stringify({ files, release: parent })}\n`)
  await store.point(scenario, parent)
}
await store.close()
