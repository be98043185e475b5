/** Shared luck in a step: both sides of every pair, known scores, and the record of an episode. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeEach, expect, it } from 'vitest'
import { testServer } from '../../test/support/server.ts'
import type { Executor } from '../contract/index.ts'
import { ALWAYS, episodeOf, GATE, metric, testBench, WORSE, type Tools } from './testing/bench.ts'

const CALLS = 2
let modelUrl = ''
let takesSeeds = true
beforeEach(async () => {
  takesSeeds = true
  modelUrl = await testServer(async (request, response) => {
    const body = await text(request)
    response.writeHead(takesSeeds || !body.includes('seed') ? 200 : 400).end(body)
  })
})

/** An agent that says what the model said: what it was asked. */
function world(more: Tools = {}) {
  const played: { readonly task: string; readonly seeds: readonly unknown[] }[] = []
  const run: Executor['run'] = async (play) => {
    const said = []
    for (let call = 0; call < CALLS; call += 1) {
      const answer = await fetch(`${play.model.url}/v1/chat/completions`, { method: 'POST', body: '{}' })
      said.push(JSON.parse(await answer.text()).seed)
    }
    played.push({ task: play.launch('/root').argv.at(-1) ?? '', seeds: said })
    const episode = episodeOf('nothing')
    await play.inspect?.('/root/workspace', episode)
    return episode
  }
  return { played, opening: testBench({ run, modelUrl, selection: { decide: () => ({ selected: false, reason: 'never' }) }, ...more }) }
}

it('gives both sides of a pair the same seeds, every pair its own, and says so in the row and the record', async () => {
  const { played, opening } = world()
  const bench = await opening
  const step = await bench.step()
  expect(played).toHaveLength(2 * GATE.length)
  const byTask = Map.groupBy(played, ({ task }) => task)
  for (const [one, other] of byTask.values()) expect(one?.seeds).toEqual(other?.seeds)
  expect(new Set(played.flatMap(({ seeds }) => seeds)).size).toBe(CALLS * GATE.length)
  expect(metric(step, 'episodes_seeded')).toBe(2 * GATE.length)
  const record = JSON.parse(readFileSync(join(bench.folder, 'steps/scenario/1/episodes/candidate-0/episode.json'), 'utf8'))
  expect(record.seeds).toEqual(byTask.get(GATE[0]?.prompt ?? '')?.[0]?.seeds)
})

it('knows a score of the served side by its luck, which stays until another tree is served', async () => {
  let isWorse = false
  let selection = ALWAYS
  const { played, opening } = world({
    propose: () => ({ mutations: [isWorse ? WORSE : { ...WORSE, id: 'other', options: { name: 'rules', config: { text: 'Sing.' } } }] }),
    selection: { decide: (pairs, question) => selection.decide(pairs, question) },
  })
  selection = { decide: () => ({ selected: false, reason: 'never' }) }
  const bench = await opening
  await bench.step()
  const first = played.splice(0)
  isWorse = true
  selection = ALWAYS
  expect(await bench.step()).toMatchObject({ kind: 'publish', metrics: { episodes_rechecked: 2 } })
  const lucks = new Set(first.map(({ seeds }) => String(seeds)))
  expect(played.splice(0).every(({ seeds }) => lucks.has(String(seeds)))).toBe(true)
  isWorse = false
  await bench.step()
  expect(played).toHaveLength(2 * GATE.length)
  expect(played.some(({ seeds }) => lucks.has(String(seeds)))).toBe(false)
})

it('goes on without where the model refuses seeds, and then knows scores as ever', async () => {
  takesSeeds = false
  const { played, opening } = world()
  const step = await (await opening).step()
  expect(played.flatMap(({ seeds }) => seeds)).toEqual(Array.from({ length: 2 * CALLS * GATE.length }, () => undefined))
  expect(metric(step, 'episodes_seeded')).toBeUndefined()
})

it('sends none where it is switched off', async () => {
  const { played, opening } = world({ settings: { sampling_seeds: 'off' } })
  await (await opening).step()
  expect(played.flatMap(({ seeds }) => seeds).every((seed) => seed === undefined)).toBe(true)
})
