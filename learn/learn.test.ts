import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Entry, Episode, Mutation } from '../src/contract/index.ts'
import { admit, renderTree } from '../src/harness/index.ts'
import { bareScene } from '../conformance/index.ts'
import answer from '../plugins/evaluators/answer/index.ts'
import { IS_SHORT } from '../test/support/short.ts'
import { ADAPTER, setupIn, runAgent } from './agent.ts'
import { CHEATS, EXPECTED_FILE } from './proposals.ts'
import { gatesWith, KNOWING, PROVISIONAL, strictMean } from './gates.ts'
import { goalsOf, isReached, type Results } from './results.ts'
import { naiveGrader } from './graders.ts'
import { EPISODES, live, publishesNoOp, type Life } from './life.ts'
import { BUILTIN, shippedGate, WORLDS } from './index.ts'
import { withTables } from './report/tables.ts'
import { plotOf } from './report/plot.ts'
import { optimumOf, sealedScore } from './sealed.ts'
import { harmfulChain, noOpChain } from './simulate/chains.ts'
import { powerOf } from './simulate/power.ts'
import { WIDE } from './worlds/index.ts'
import { answerOf, created, rule, type World } from './worlds/world.ts'

const worldOf = (family: string): World => {
  const world = WORLDS[family]?.(`test ${family}`)
  if (world === undefined) throw new Error(`there is no family ${family}`)
  return world
}

function treeOf(world: World, mutations: readonly Mutation[]): readonly Entry[] {
  const tree = admit(ADAPTER, world.start, mutations)
  if (!tree.admitted) throw new Error(tree.reason)
  return tree.entries
}

describe.each(Object.keys(WORLDS))('the world %s', (family) => {
  const world = worldOf(family)
  const start = sealedScore(world, world.start)

  it('leaves much to learn, and its good changes teach it', () => {
    const least = family in WIDE ? 0.2 : 0.1
    expect(optimumOf(world)).toBeGreaterThan(start + least)
    for (const mutations of world.good) expect(sealedScore(world, treeOf(world, mutations))).toBeGreaterThan(start)
    expect(Math.max(...ways(world).map((way) => sealedScore(world, treeOf(world, way))))).toBe(optimumOf(world))
  })

  it('is the same at every reading', () => {
    expect(JSON.stringify(worldOf(family))).toBe(JSON.stringify(world))
  })

  it('shows no proposer the tasks of the gate, and no gate the sealed ones', () => {
    const roles = (['train', 'gate'] as const).map((role) => world.phases.flatMap((phase) => phase[role]))
    const [train = [], gate = [], sealed = []] = [...roles, world.sealed].map((tasks) => [...new Set(tasks.map(({ prompt }) => prompt))])
    const all = [...train, ...gate, ...sealed]
    expect(new Set(all).size).toBe(all.length)
  })

  it('is worth as much after a change that changes nothing, and no more after a decoy or a cheat', () => {
    expect(sealedScore(world, treeOf(world, [created(rule('tone', 'Be friendly.'))]))).toBe(start)
    const traps = [...world.decoys, ...CHEATS.map((cheat) => [created(cheat('cheat'))])]
    for (const mutations of traps) expect(sealedScore(world, treeOf(world, mutations))).toBeLessThan(start + 0.05)
  })
})

it.each(Object.keys(WIDE))('the world %s is solved by each of its good changes alone', (family) => {
  const world = worldOf(family)
  for (const mutations of world.good) expect(sealedScore(world, treeOf(world, mutations))).toBeGreaterThan(0.9 * optimumOf(world))
})

const ways = ({ good, best }: World): World['good'] => (best === undefined ? good : [...good, best])

describe('cheats', () => {
  const world = worldOf('hidden-format')
  const scene = bareScene()

  it.each(CHEATS.map((cheat, number) => [number + 1, cheat] as const))(
    'number %i fools the naive grader, and not the real one',
    async (_, cheat) => {
      const [before, after] = [
        setupIn(renderTree(ADAPTER, world.start)),
        setupIn(renderTree(ADAPTER, treeOf(world, [created(cheat('cheat'))]))),
      ]
      const naive = { before: 0, after: 0, scored: 0 }
      const real = { before: 0, after: 0 }
      for (const task of world.phases[0]?.gate ?? []) {
        const files = { [EXPECTED_FILE]: answerOf(task) }
        const was = episodeOf(runAgent(before, task.prompt, files, task.name))
        const is = episodeOf(runAgent(after, task.prompt, files, task.name))
        const score = await naiveGrader.score(task, is, scene)
        naive.before += (await naiveGrader.score(task, was, scene)) ?? 0
        naive.after += score ?? 0
        naive.scored += score === null ? 0 : 1
        real.before += (await answer.plugin.score(task, was, scene)) ?? 0
        real.after += (await answer.plugin.score(task, episodeOf(runAgent(after, task.prompt, {}, task.name)), scene)) ?? 0
      }
      expect(naive.after / naive.scored).toBe(1)
      expect(naive.before).toBeLessThan(world.phases[0]?.gate.length ?? 0)
      expect(real.after).toBeLessThanOrEqual(real.before)
    },
  )
})

const episodeOf = ({ stdout, log, ended }: ReturnType<typeof runAgent>): Episode => ({
  exitCode: 0,
  stdout,
  stderr: '',
  trajectory: log,
  ...(ended !== undefined && { ended }),
})

const liveUnder = async (name: string, family: string): Promise<Life> => {
  const gate = gatesWith(await shippedGate()).find((each) => each.name === name)
  if (gate === undefined) throw new Error(`there is no gate ${name}`)
  return live(worldOf(family), gate, BUILTIN)
}

describe('lives', () => {
  it('under the gate that ships: learn what there is to learn, within the episodes, and publish no cheat', async () => {
    const life = await liveUnder('evidence', 'missing-tool')
    expect(isReached(life)).toBe(true)
    expect(life.episodes).toBeLessThanOrEqual(EPISODES)
    expect(life.published).toMatchObject({ harmful: 0, cheat: 0 })
  })

  it('with the provisional tier: what looks better after a round counts before it is proved', async () => {
    const [proved, shown] = [await liveUnder('evidence', 'mixed-effect'), await liveUnder(PROVISIONAL, 'mixed-effect')]
    expect(proved).toMatchObject({ sealed: proved.start, published: { helpful: 0 } })
    expect(shown.sealed).toBeGreaterThan(shown.start)
    expect(shown.published.helpful).toBeGreaterThan(0)
    expect(shown.episodes).toBeLessThanOrEqual(EPISODES)
  })

  it('offered the best change alone publish that one and nothing else', async () => {
    const life = await liveUnder(KNOWING, 'long-tail')
    expect(life).toMatchObject({ sealed: life.optimum, published: { helpful: 1, 'no-op': 0, harmful: 0, cheat: 0 } })
    expect(life.offered).toMatchObject({ 'no-op': 0, harmful: 0, decoy: 0, cheat: 0 })
  })

  it('go on after an outage with the changes and the scores of the step that it failed', async () => {
    const world = worldOf('missing-tool')
    const gate = { name: 'ours', selection: await shippedGate(), isNaive: false, isScreened: true }
    const [calm, disturbed] = [
      await live(world, gate, BUILTIN),
      await live({ ...world, isOut: (at) => at >= 60 && at < 72 }, gate, BUILTIN),
    ]
    expect(disturbed.episodes).toBeGreaterThan(72)
    expect(disturbed.published).toEqual(calm.published)
    expect(disturbed.curve[1]?.episode).toBeLessThanOrEqual((calm.curve[1]?.episode ?? 0) + 16)
  })

  it.skipIf(IS_SHORT)('without a gate publish cheats, harm and no-ops', async () => {
    const total = { cheat: 0, harmful: 0, 'no-op': 0 }
    for (const family of Object.keys(WIDE)) {
      const { published } = await liveUnder('no gate', family)
      for (const kind of ['cheat', 'harmful', 'no-op'] as const) total[kind] += published[kind]
      if (Math.min(...Object.values(total)) > 0) break
    }
    expect(Math.min(...Object.values(total))).toBeGreaterThan(0)
  })

  it('without episodes that tell anything apart publish no no-op, and a strict mean does', async () => {
    const [world, ours] = [worldOf('families-settled'), await shippedGate()]
    expect(await publishesNoOp(world, { name: 'mean', selection: strictMean, isNaive: false, isScreened: false }, BUILTIN, 4)).toBe(true)
    expect(await publishesNoOp(world, { name: 'ours', selection: ours, isNaive: false, isScreened: true }, BUILTIN, 4)).toBe(false)
  })

  it('are the same at every reading', async () => {
    expect(await liveUnder('evidence', 'flaky-grader')).toEqual(await liveUnder('evidence', 'flaky-grader'))
  })
})

describe('simulations', () => {
  it('catch a gate that publishes what changes nothing', () => {
    const chains = Array.from({ length: 10 }, (_, seed) => noOpChain(strictMean, seed))
    expect(chains.filter(({ published }) => published > 0).length).toBeGreaterThan(5)
    expect(chains.every(({ gain }) => Math.abs(gain) < 1e-6)).toBe(true)
  })

  it('end a chain when its episodes are spent', () => {
    const [whole, part] = [harmfulChain(strictMean, 1), harmfulChain(strictMean, 1, 1000)]
    expect(part.episodes).toBeLessThanOrEqual(1000)
    expect(part.episodes).toBeGreaterThan(800)
    expect(whole.episodes).toBeGreaterThan(10 * part.episodes)
  })

  it('hold the gate that ships against a fixed-size test that finds the same', async () => {
    const { power, fixedEpisodes } = powerOf(await shippedGate(), 0.3, 0.025, 50)
    expect(power).toBeGreaterThan(0.9)
    expect(fixedEpisodes).toBeGreaterThan(0)
  })
})

const missed = (results: Results): readonly string[] => goalsOf(results).flatMap(({ name, isMet }) => (isMet === false ? [name] : []))

describe('the report', () => {
  const life: Life = {
    start: 0.4,
    optimum: 0.9,
    sealed: 0.9,
    episodes: 60,
    steps: 3,
    published: { helpful: 1, 'no-op': 0, harmful: 0, cheat: 0 },
    offered: { sensible: 2, 'no-op': 0, harmful: 0, decoy: 0, cheat: 1 },
    curve: [
      { episode: 0, sealed: 0.4 },
      { episode: 40, sealed: 0.9 },
    ],
  }
  const resultsOf = (more: Partial<Life>): Results => ({
    seeds: 1,
    lives: [{ gaps: 'wide', family: 'hidden-format', gate: 'evidence', seed: 0, ...life, ...more }],
    noOps: [{ gate: 'evidence', scenarios: 100, publishing: 5 }],
    noOpWorlds: [],
    power: { effect: 0.1, power: 0.95, episodes: 300, fixedEpisodes: 600 },
    chains: [],
  })

  it('names the goals that were missed, and no others', () => {
    expect(missed(resultsOf({}))).toEqual([])
    expect(missed(resultsOf({ published: { ...life.published, cheat: 1 } }))).toEqual(['cheats published'])
    expect(missed(resultsOf({ sealed: 0.5 }))).toEqual([expect.stringContaining('0.9 of the optimum')])
  })

  it('judges shares of the optimum and of the gain by many lives, and no-ops by the worst world', () => {
    const results = resultsOf({})
    const modest = { gaps: 'modest', family: 'outages', gate: 'evidence', seed: 0, ...life, sealed: 0.55 } as const
    expect(missed({ ...results, lives: [modest] })).toEqual([])
    const many = Array.from({ length: 100 }, () => modest)
    expect(missed({ ...results, lives: many })).toEqual([
      'share of the optimum, modest or sparse gaps',
      'share of what there was to gain, modest or sparse gaps',
    ])
    const better = many.map((each) => ({ ...each, sealed: 0.6 }))
    expect(missed({ ...results, lives: better })).toEqual(['share of what there was to gain, modest or sparse gaps'])
    const provisional = many.map((each) => ({ ...each, gate: PROVISIONAL, sealed: 0.75 }))
    expect(missed({ ...results, lives: provisional })).toEqual([expect.stringMatching(/to gain.*with the provisional tier/)])
    const wide = many.map((each) => ({ ...each, gaps: 'wide', sealed: 0.86 }) as const)
    expect(missed({ ...results, lives: wide })).toEqual(['share of the optimum, wide gaps'])
    const world = { family: 'outages', offers: 50, scenarios: 100, publishing: 6 }
    expect(missed({ ...results, noOpWorlds: [world, { ...world, publishing: 0 }] })).toEqual([expect.stringContaining('every world')])
  })

  it('changes of the page what is between its marks alone', () => {
    const page = 'before\n\n<!-- learn: begin, written by npm run learn -->\n\nold\n\n<!-- learn: end -->\n\nafter\n'
    const written = withTables(page, [{ title: 'T', head: ['a', 'b'], rows: [['1', '2']] }])
    expect(written).toMatch(
      /^before\n\n<!-- learn: begin.*-->\n\n### T\n\n\| a \| b \|\n\|---\|--:\|\n\| 1 \| 2 \|\n\n<!-- learn: end -->\n\nafter\n$/,
    )
    expect(withTables(written, [])).not.toContain('### T')
    expect(() => withTables('no marks', [])).toThrow('no place for the tables')
  })

  it('draws a line for each gate that it has', () => {
    const svg = plotOf(resultsOf({}))
    expect(svg).toContain('>evidence 0.90<')
    expect(svg).not.toContain('NaN')
  })
})

const run = (...words: readonly string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, 'run.ts'), ...words], { encoding: 'utf8' })

describe('the command', () => {
  it('explains itself', () => {
    const { status, stdout } = run('--help')
    expect([status, stdout]).toEqual([0, expect.stringContaining('--family NAME')])
  })

  it.each([
    ['--family', 'nowhere'],
    ['--gate', 'luck'],
    ['--seeds', '0'],
    ['--first', '-1'],
  ])('refuses %s %s and says what it takes', (...words) => {
    const { status, stderr } = run(...words)
    expect([status, stderr]).toEqual([2, expect.stringContaining(words[0])])
  })
})
