/** What the service ships in a tree is kept up to date: a newer text is published as a release of its own when the scenario is loaded. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { ownWorld, type World } from '../support/world.ts'
import { named, textAt } from './support/helpers.ts'
import { fresh, memberOf, type Trainee } from './support/trainee.ts'

const FIXTURES = join(import.meta.dirname, '..', 'fixtures')
const adapter = (version: string) => ({ 'recipes.mine.evolution.adapter': `${join(FIXTURES, 'shipping-adapter.ts')}#${version}` })
const seed = JSON.stringify([{ id: 'style', name: 'rules', config: { text: 'Be brief.' } }])

let here: World

/** A service with a new scenario. */
async function open(more: Readonly<Record<string, string | boolean>> = {}): Promise<Trainee> {
  const settings = { recipe: 'mine', 'recipes.mine.use': 'harness', 'recipes.mine.evolution.seed': seed, ...adapter('older'), ...more }
  here = await ownWorld({ backend: 'sqlite', settings })
  return fresh(here)
}

const filesOf = async (name: string): Promise<JsonObject> => memberOf((await here.get('/svc/harness', named(name))).json, 'files')

it('a changed built-in entry is published once, without a batch, on the release before [harness.shipped]', async () => {
  const s = await open()
  const first = await s.head()
  expect(textAt(await filesOf(s.name), 'agent/svc.md')).toContain('as it was')

  await here.restart(adapter('newer'))
  expect(textAt(await filesOf(s.name), 'agent/svc.md')).toContain('as it is now')
  expect(textAt(await filesOf(s.name), 'agent/RULES.md')).toBe('Be brief.\n')
  const row = await s.release()
  expect(row).toMatchObject({
    operation: 'shipped',
    result: 'published',
    current: true,
    parent_release_id: first['release_id'],
    metrics: { shipped_content_update: { entries: ['svc-requests'] } },
  })
  expect(await s.row(1)).toMatchObject({ consumed_ids: [] })

  await here.restart()
  expect(await s.releases()).toHaveLength(2)
})

it('a newer adapter that renders the same entries to other files publishes these [harness.shipped]', async () => {
  const s = await open(adapter('newer'))
  await here.restart(adapter('newest'))
  const files = await filesOf(s.name)
  expect([files['agent/AGENTS.md'], files['agent/RULES.md']]).toEqual(['Be brief.\n', undefined])
  expect(await s.release()).toMatchObject({ operation: 'shipped', metrics: { shipped_content_update: { entries: [] } } })
  await here.restart()
  await filesOf(s.name)
  expect(await s.releases()).toHaveLength(2)
})

it('the same entry publishes nothing', async () => {
  const s = await open()
  await here.restart()
  await filesOf(s.name)
  expect(await s.releases()).toHaveLength(1)
})

it('an entry that is switched off leaves the tree, and comes back when it is switched on', async () => {
  const s = await open()
  await here.restart({ 'recipes.mine.evolution.requests': false })
  expect(Object.keys(await filesOf(s.name))).not.toContain('agent/svc.md')
  expect(await s.release()).toMatchObject({ operation: 'shipped', metrics: { shipped_content_update: { entries: ['svc-requests'] } } })
  await here.restart({ 'recipes.mine.evolution.requests': true })
  expect(Object.keys(await filesOf(s.name))).toContain('agent/svc.md')
})

it('an entry that was switched off is not brought up to date', async () => {
  const s = await open({ 'recipes.mine.evolution.requests': false })
  await here.restart(adapter('newer'))
  expect(Object.keys(await filesOf(s.name))).not.toContain('agent/svc.md')
  expect(await s.releases()).toHaveLength(1)
})

it('a release of before can still be rolled back to, and is brought up to date again at the next load', async () => {
  const s = await open()
  const first = textAt(await s.head(), 'release_id')
  await here.restart(adapter('newer'))
  await filesOf(s.name)
  await s.move('rollback', first)
  expect(textAt(await filesOf(s.name), 'agent/svc.md')).toContain('as it was')
  await here.restart()
  expect(textAt(await filesOf(s.name), 'agent/svc.md')).toContain('as it is now')
})
