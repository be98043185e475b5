import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { BUILTIN, WORLDS } from './index.ts'
import { EPISODES } from './life.ts'
import type { World } from './worlds/world.ts'
import { openGepa } from './gepa/life.ts'

const folder = mkdtempSync(join(tmpdir(), 'gepa-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Speaks as the adapter does, with a plan of its own in place of GEPA. */
function standIn(name: string, program: string): string {
  const [script, starter] = [join(folder, `${name}.mjs`), join(folder, name)]
  writeFileSync(script, `import { createInterface } from 'node:readline'\n${program}`)
  writeFileSync(starter, `#!/bin/sh\nexec ${process.execPath} ${script}\n`)
  chmodSync(starter, 0o755)
  return starter
}

const ASK = `
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const read = async () => JSON.parse((await lines.next()).value)
const ask = async (question) => (console.log(JSON.stringify(question)), read())
const gate = (count) => Array.from({ length: count }, (_, index) => ({ role: 'gate', index }))
`

const world = (): World => {
  const made = WORLDS['continuous-scores']?.('gepa')
  if (made === undefined) throw new Error('there is no such world')
  return made
}

it('plays no episode beyond the budget, and publishes each new best candidate alone', async () => {
  const gepa = openGepa(
    standIn(
      'greedy',
      `${ASK}
      const { tree, gate: count, episodes } = await read()
      const candidates = [tree], scores = []
      let spent = false
      const mean = async (each) => { const played = await ask({ op: 'play', tree: each, tasks: gate(count) }); spent = played.spent; return played.scores.reduce((sum, score) => sum + score, 0) / count }
      scores.push(await mean(tree))
      while (!spent) {
        const next = (await ask({ op: 'propose', tree })).tree
        candidates.push(next)
        scores.push(await mean(next))
      }
      await ask({ op: 'end', candidates, scores })
      `,
    ),
    BUILTIN,
  )
  const life = await gepa.live(world(), 0)
  await gepa.close()
  expect(life.episodes).toBeLessThanOrEqual(EPISODES)
  expect(life.episodes).toBeGreaterThan(EPISODES - 21)
  expect(life.steps).toBe(Object.values(life.offered).reduce((sum, count) => sum + count, 0))
  expect(life.curve.length - 1).toBe(Object.values(life.published).reduce((sum, count) => sum + count, 0))
  expect(life.published.helpful).toBeGreaterThan(0)
})

it('says so when the process ends before its result', async () => {
  const gepa = openGepa(standIn('gone', `${ASK}\nawait read()\nprocess.exit(3)`), BUILTIN)
  await expect(gepa.live(world(), 0)).rejects.toThrow(/abort|ended/)
  await gepa.close()
})
