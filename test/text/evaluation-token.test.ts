/** The token that episodes call their model with stands in nothing that a real step leaves behind. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { knownSecrets } from '../../src/kit/index.ts'
import { named } from '../spec/support/helpers.ts'
import { fresh } from '../spec/support/trainee.ts'
import { wordHarness } from '../support/word-harness.ts'
import { ownWorld } from '../support/world.ts'

it('an agent that tells its key in every way leaves it in no step record, row, status, page or line of the log', async () => {
  const before = new Set(knownSecrets())
  const here = await ownWorld({ backend: 'sqlite' })
  const { directory } = here
  await here.restart(wordHarness(directory, 'telling-adapter.ts'))
  // Every start makes a token of its own.
  const tokens = knownSecrets().filter((secret) => !before.has(secret) && /^[0-9a-f]{64}$/.test(secret))
  expect(tokens.length).toBeGreaterThan(0)
  const s = await fresh(here)
  await s.asked('say magic')
  const row = await s.release()
  const files = globSync('steps/**/*', { cwd: directory }).filter((path) => /\.jsonl?$/.test(path))
  const stored = files.map((path) => readFileSync(join(directory, path), 'utf8')).join('\n')
  expect(stored).toContain('[redacted]')
  expect(files.some((path) => path.includes('episodes'))).toBe(true)
  const paths = ['/svc/status', `/svc/scenarios/${s.name}/commits`, `/svc/scenarios/${s.name}/releases`, '/svc/harness/releases']
  const shown = await Promise.all(paths.map(async (path) => (await here.get(path, named(s.name))).text))
  for (const text of [stored, JSON.stringify(row), ...shown, JSON.stringify(here.log)]) for (const token of tokens) expectNone(text, token)
}, 60_000)

function expectNone(text: string, token: string): void {
  expect(text).not.toContain(token.slice(0, 12))
  expect(text.replaceAll(/[^0-9a-f]/g, '')).not.toContain(token.slice(20, 44))
  expect(text).not.toContain(Array.from(token).toReversed().join('').slice(0, 12))
  for (const run of text.match(/[A-Za-z0-9+/]{24,}/g) ?? [])
    expect(Buffer.from(run, 'base64').toString('latin1')).not.toContain(token.slice(0, 12))
}
