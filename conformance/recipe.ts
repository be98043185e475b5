/** Conformance suite for recipes, for any test runner with `describe` and `it`. */
import assert from 'node:assert/strict'
import type { JsonObject, PendingRecord, Processor, TrainerPlan } from '../src/contract/index.ts'
import { exchange, report } from './processor-samples.ts'
import { describeSurface } from './recipe-surface.ts'
import { componentsOf, over, plansOf, scopeOf, withDirectory, type RecipeSuite } from './recipe-support.ts'
import { assertKeepable, assertUntouched } from './support.ts'

export type { RecipeSuite }

export function recipeConformance(suite: RecipeSuite): void {
  const { describe } = suite
  describe('what it starts with', () => describeSeed(suite))
  describe('what it binds', () => describeBinding(suite))
  describe('what collects', () => describeProcessors(suite))
  describe('what improves it', () => describeTrainers(suite))
  describe('which reports it takes', () => describeReports(suite))
  describe('how a release is reached', () => describeSurface(suite))
}

function describeSeed(suite: RecipeSuite): void {
  suite.it('its seed is a content that every store keeps', async () => {
    assertKeepable(suite.recipe.seed ?? {})
  })
  suite.it('where its trainers have names, each file of the seed lies in the folder of one of them', async () => {
    const names = componentsOf(suite)
    if (names.length === 0) return
    const lost = Object.keys(suite.recipe.seed ?? {}).filter((path) => !names.some((name) => path.startsWith(`${name}/`)))
    assert.deepEqual(lost, [], 'files that belong to no trainer would be lost')
  })
}

function describeBinding(suite: RecipeSuite): void {
  const test = over(suite)
  test('a binding is whole: what answers, how a release is reached, what collects, how it ends', async ({ binding }) => {
    for (const verb of ['infer', 'models', 'status', 'close'] as const) assert.equal(typeof binding.runtime[verb], 'function')
    for (const part of ['surface', 'processors'] as const) assert.equal(typeof binding[part], 'object')
    assert.equal(typeof binding.close, 'function')
  })
  test('the configuration it is bound with is afterwards what it was', async ({ directory }) => {
    const scope = scopeOf(suite, directory)
    await assertUntouched(scope.config, async () => (await suite.recipe.bind(scope)).close())
  })
  test('a scenario can be bound twice, and closing one leaves the other', async ({ binding, directory }) => {
    const other = await suite.recipe.bind(scopeOf(suite, directory))
    await other.close()
    assert.equal(typeof (await binding.runtime.status()), 'object')
    for (const processor of Object.values(binding.processors)) processor.next(true)
  })
}

function describeProcessors(suite: RecipeSuite): void {
  const test = over(suite)
  test('there is one for each trainer, under the same name', async ({ binding }) => {
    const names = Object.keys(plansOf(suite))
    assert.deepEqual(Object.keys(binding.processors).toSorted(), names.length === 0 ? [''] : names.toSorted())
  })
  test('there is a mode that all of them run in', async ({ binding }) => {
    const [first, ...others] = Object.values(binding.processors)
    const shared = first?.modes.filter((mode) => others.every(({ modes }) => modes.includes(mode))) ?? []
    assert.notEqual(shared.length, 0, 'there is no mode in which a scenario of this recipe could be loaded')
  })
  test('what one binding collects, another one does not see', async ({ binding, directory }) => {
    const other = await suite.recipe.bind(scopeOf(suite, directory))
    try {
      const seen = (): readonly unknown[] => Object.values(other.processors).map((each) => [each.next(true), each.status()])
      const before = structuredClone(seen())
      for (const processor of Object.values(binding.processors)) for (const record of recordsFor(processor)) processor.ingest(record)
      assert.deepEqual(seen(), before)
    } finally {
      await other.close()
    }
  })
}

function recordsFor({ reads }: Processor): readonly PendingRecord[] {
  const records = [exchange('exchange-1'), report('report-1', ['turn-1'], { score: 1 }, { sequence: 2 })]
  return records.filter(({ request_type }) => request_type !== 'train' && reads.includes(request_type))
}

function describeTrainers(suite: RecipeSuite): void {
  suite.it('a single one may go without a name, and each of several is named after its folder', async () => {
    const names = Object.keys(plansOf(suite))
    if (names.length === 1 && names[0] === '') return
    for (const name of names) assert.ok(!name.includes('/'), `${JSON.stringify(name)} is no single folder`)
    assertKeepable(Object.fromEntries(names.map((name) => [name, ''])))
  })
  suite.it('each has a lane it runs in and can be opened', async () => {
    for (const plan of Object.values(plansOf(suite))) {
      const { lane, stale = 'merge' } = plan
      assert.ok(['thread', 'weights'].includes(lane), `${lane} is not a lane`)
      assert.ok(['merge', 'reevaluate', 'refuse'].includes(stale), `${stale} is not a policy for stale results`)
      assert.equal(typeof plan.open, 'function')
    }
  })
  suite.it('they are the same each time, before a scenario is bound and after', async () => {
    const first = shapeOf(plansOf(suite))
    await withDirectory(async (directory) => (await suite.recipe.bind(scopeOf(suite, directory))).close())
    assert.deepEqual(shapeOf(plansOf(suite)), first)
  })
  suite.it('each of a thread of its own opens from plain data alone, twice', async () => {
    await withDirectory(async (directory) => {
      for (const [component, plan] of Object.entries(plansOf(suite)))
        if (plan.lane === 'thread') for (const _time of [1, 2]) await assertOpens(suite, plan, component, directory)
    })
  })
}

function shapeOf(plans: Readonly<Record<string, TrainerPlan>>): unknown {
  return Object.entries(plans).map(([name, { lane, stale }]) => [name, lane, stale])
}

async function assertOpens(suite: RecipeSuite, plan: TrainerPlan, component: string, directory: string): Promise<void> {
  const { scenario, config, evaluation } = scopeOf(suite, directory)
  const trainer = await plan.open(structuredClone({ scenario, component, config, evaluation, directory }))
  assert.equal(typeof trainer.step, 'function')
}

/** Valid and invalid reports. */
const REPORTS: readonly string[] = [
  '{}',
  '{"score":1,"feedback":"fine","references":["a"],"metadata":{}}',
  '{"score":"1","feedback":["fine"],"references":"a","metadata":[]}',
  '{"score":null,"feedback":null,"references":null,"metadata":null}',
  '{"score":-1e308,"references":[1,{}],"metadata":{"task":7,"bench":{"task_name":{}}}}',
  '{"__proto__":{"score":1},"constructor":1,"toString":null,"hasOwnProperty":[]}',
  `{"metadata":${'['.repeat(200)}${']'.repeat(200)}}`,
]

function describeReports(suite: RecipeSuite): void {
  const { recipe, it } = suite
  it('a report is let in or refused with a sentence, whatever is in it, and is afterwards what it was', async () => {
    for (const text of REPORTS) {
      const body: JsonObject = JSON.parse(text)
      await assertUntouched(body, (given) => {
        const problem = recipe.checkReport?.(given) ?? null
        assert.ok(problem === null || (typeof problem === 'string' && problem.trim() !== ''), 'a report was refused without a reason')
      })
    }
  })
  it('the same report is judged the same each time', async () => {
    for (const text of REPORTS) assert.equal(recipe.checkReport?.(JSON.parse(text)), recipe.checkReport?.(JSON.parse(text)))
  })
}
