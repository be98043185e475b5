/** Failures of the install route: the script's inputs, leftovers, and the log. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ownWorld, type World } from '../support/world.ts'
import { named, scenarioNames, SLOW_RECIPE } from './support/helpers.ts'
import { fresh } from './support/trainee.ts'

const OTHER_PI = join(import.meta.dirname, '..', 'fixtures', 'other-pi.ts')
const INSTALL = '/svc/harness/install?adapter=pi'

const service = (recipe: string): Promise<World> =>
  ownWorld({ settings: { recipe, 'evolution.adapter': 'pi', 'inference.upstream_model': 'm' } })

it('a script is made by the adapter of its scenario’s own recipe, also where another one bears the same name', async () => {
  const here = await ownWorld({
    settings: {
      recipe: 'one',
      'recipes.one.use': 'harness',
      'recipes.one.evolution.adapter': 'pi',
      'recipes.one.evolution.seed': JSON.stringify([{ id: 'style', name: 'rules', config: { text: 'Be brief.' } }]),
      'recipes.other.use': 'harness',
      'recipes.other.evolution.adapter': OTHER_PI,
      'inference.upstream_model': 'm',
    },
  })
  const { name } = await fresh(here, undefined, { recipe: 'one' })
  const { status, text } = await here.get(INSTALL, named(name))
  expect([status, text.includes('pi-agent/AGENTS.md'), text.includes('pi-agent/OTHER.md')]).toEqual([200, true, false])
})

it('HEAD is answered like the script, and makes no scenario [harness.install-3]', async () => {
  const here = await service('harness')
  expect(await here.ask('HEAD', INSTALL)).toMatchObject({ status: 200, text: '' })
  expect(await scenarioNames(here)).toEqual([])
  const { name } = await fresh(here)
  expect(await here.ask('HEAD', INSTALL, { headers: named(name) })).toMatchObject({ status: 200, text: '' })
})

it('a bug that comes late is in the log with its stack, though the script says no more than that it is there', async () => {
  const here = await service(`${SLOW_RECIPE}#lateBug`)
  const { name } = await fresh(here)
  const { text, headers } = await here.get(INSTALL, named(name))
  expect(() => execFileSync('sh', { input: text, encoding: 'utf8', stdio: 'pipe' })).toThrow(/svc: 500: .*its log has the cause/)
  expect(text).not.toContain('nobody thought of this')
  const stack: unknown = expect.stringContaining('nobody thought of this')
  expect(here.log).toContainEqual(expect.objectContaining({ event: 'failure', id: headers['x-request-id'], stack }))
})
