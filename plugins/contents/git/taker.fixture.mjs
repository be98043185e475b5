/** A process that takes and unpacks checkpoints until it is killed, and prints what was acknowledged. Arguments: repository, folder. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import git from './index.ts'

const [repository, folder] = process.argv.slice(2)
const store = await git.plugin.make({ repository })
mkdirSync(folder, { recursive: true })
for (let step = 0; ; step += 1) {
  writeFileSync(join(folder, 'model.bin'), randomBytes(3_000_000))
  writeFileSync(join(folder, 'note'), `${step}`)
  const contentId = await store.write({ kind: 'checkpoint', path: folder })
  process.stdout.write(`${JSON.stringify({ contentId, note: `${step}` })}\n`)
  await store.unpack(contentId)
}
