/** A process that publishes into a bucket until it is killed, and prints what was acknowledged. Argument: its settings, as JSON. */
import s3 from './index.ts'

const store = await s3.plugin.make(JSON.parse(process.argv[2]))
let parent = null
for (let step = 0; ; step += 1) {
  const files = { shared: 'the same', own: `${step}`, 'deep/er/file': 'x'.repeat(step) }
  const contentId = await store.write({ kind: 'files', files })
  parent = await store.seal(contentId, parent, { step, operation: 'train', at: 1_763_180_000 })
  process.stdout.write(`${JSON.stringify({ files, release: parent })}\n`)
  await store.point('w', parent)
}
