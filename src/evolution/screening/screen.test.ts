/** Changes are screened on train tasks, and what helps there is proved as one. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Brief, Executor, Mutation, Question, Selection, Task } from '../../contract/index.ts'
import { GATE, REQUEST, SAMPLE, metric, taskNamed, testBench, type Tools } from '../testing/bench.ts'

const TRAIN = Array.from({ length: 6 }, (_, at) =>
  taskNamed(`train-${at}`, { role: 'train', data: { answer: `secret number ${at} of many` } }),
)
const TASKS: readonly Task[] = [...GATE, ...TRAIN]
const rule = (id: string, text: string): Mutation => ({ op: 'create', id, options: { name: 'rules', config: { text } } })
const [GOOD, BETTER, NOTHING, BAD] = [rule('good', '+1'), rule('better', '+2'), rule('nothing', 'Be kind.'), rule('bad', '-2')]

/** The score is what the rules add up to, in tenths. */
const adding =
  (played: string[]): Executor['run'] =>
  async (play) => {
    const files = play.files({ url: '', model: 'm', api: 'openai', apiKey: null })
    const texts = Object.values(files).join('\n')
    const sum = [...texts.matchAll(/[+-]\d/g)].reduce((total, [number]) => total + Number(number), 4)
    played.push(`${play.launch('/root').argv.at(-1)?.split(' ').slice(3, 4).join('')} ${sum}`)
    const episode = { exitCode: 0, stdout: String(sum / 10), stderr: '', trajectory: [] }
    await play.inspect?.('/root/workspace', episode)
    return episode
  }

function world(offers: readonly (readonly Mutation[])[], tools: Tools = {}) {
  const [played, briefs]: [string[], Brief[]] = [[], []]
  const selection: Selection = {
    decide(pairs) {
      const sum = pairs.reduce((total, { candidate, current }) => total + (candidate ?? 0) - (current ?? 0), 0)
      return { selected: sum > 0, reason: `gains ${sum.toFixed(1)}` }
    },
  }
  const bench = testBench({
    tasks: TASKS,
    run: adding(played),
    evaluator: { score: async (_, { stdout }) => Number(stdout) },
    selection,
    propose: (brief) => {
      briefs.push(brief)
      const mutations = offers[(briefs.length - 1) % offers.length] ?? []
      return { mutations, notes: { design: `design ${briefs.length}` } }
    },
    ...tools,
    settings: { candidates: offers.length, ...tools.settings },
  })
  return { bench, played, briefs, trials: () => played.filter((name) => name.startsWith('train')) }
}
const idsIn = (value: unknown): readonly string[] => [...JSON.stringify(value).matchAll(/"id":"([^"]+)"/g)].map(([, id = '']) => id)

describe('the changes of a step', () => {
  it('that help on train tasks are published as one, without those that carry nothing or harm', async () => {
    const { bench, briefs } = world([[GOOD], [NOTHING], [BAD], [BETTER]])
    const result = await (await bench).step()
    expect(result).toMatchObject({
      kind: 'publish',
      metrics: {
        screened_changes: 4,
        screened_kept: 2,
        screening: 'screened: 2 of 4 changes go to the gate as one, after 24 pairs of train episodes',
        screen_episodes: expect.any(Number),
      },
    })
    expect(idsIn(metric(result, 'mutations'))).toEqual(['good', 'better'])
    expect(briefs).toHaveLength(4)
  })

  it('are named in the progress and in the record of the step, with what each gained', async () => {
    const { bench } = world([[GOOD], [BAD]])
    const opened = await bench
    await opened.step()
    expect(opened.lines).toContain('check screens 2 changes on train tasks: at most 48 episodes')
    expect(opened.lines).toContain('check screened: 1 of 2 changes goes to the gate, after 24 pairs of train episodes')
    const { changes } = JSON.parse(await readFile(join(opened.folder, 'steps/scenario/1/screen.json'), 'utf8'))
    expect(changes).toEqual([
      { entries: ['create good'], gain: expect.any(Number), kept: true },
      { entries: ['create bad'], gain: expect.any(Number), kept: false },
    ])
  })

  it('that do not help are not decided on: the gate is not asked, and nothing counts', async () => {
    const { bench, played } = world([[NOTHING], [BAD]])
    const result = await (await bench).step()
    expect(result).toMatchObject({ kind: 'skip', reason: 'screened: none of 2 changes did better on 24 pairs of train episodes' })
    expect(result.state).toMatchObject({ decided: 0, cases: [] })
    expect(played.every((name) => name.startsWith('train'))).toBe(true)
  })

  it('that touch the same entry exclude each other: the better one is proved', async () => {
    const { bench } = world([[rule('same', 'Say +1')], [rule('same', '+3')], [GOOD]])
    const result = await (await bench).step()
    expect(JSON.stringify(metric(result, 'mutations'))).toContain('+3')
    expect(idsIn(metric(result, 'mutations')).toSorted()).toEqual(['good', 'same'])
  })

  it('that could do more than talk are proved alone', async () => {
    const settings: Mutation = { op: 'create', id: 'settings', options: { name: 'config', config: { data: { hook: '+1' } } } }
    const { bench } = world([[settings], [BETTER]])
    expect(idsIn(metric(await (await bench).step(), 'mutation'))).toEqual(['better'])
  })

  it('that need no review do not wait for one because of others', async () => {
    const order = rule('order', 'Run every program that you find on this machine: +1')
    const { bench } = world([[order], [BETTER]])
    expect(await (await bench).step()).toMatchObject({ kind: 'publish', metrics: { held_powers: [], screened_kept: 1 } })
  })

  it('that know train tasks by heart are not screened on them', async () => {
    const heart = rule('heart', TRAIN.map(({ prompt, data }) => `${prompt}: ${JSON.stringify(data)} +3`).join('\n'))
    const { bench, played } = world([[heart]])
    expect(await (await bench).step()).toMatchObject({ kind: 'skip', reason: expect.stringContaining('every change holds train tasks') })
    expect(played).toEqual([])
  })

  it('are each asked for with other reports, and with those there are already', async () => {
    const samples = ['a', 'b'].map((id) => ({ ...SAMPLE, record_ids: [id] }))
    const { bench, briefs } = world([[GOOD], [BETTER], [NOTHING]])
    await (await bench).step({ samples })
    expect(briefs.map((brief) => brief.samples.map(({ record_ids }) => record_ids[0]))).toEqual([['a', 'b'], ['a'], ['b']])
    expect(briefs.map(({ rejected }) => idsIn(rejected))).toEqual([[], ['good'], ['good', 'better']])
  })
})

describe('a step screens nothing', () => {
  it.each<[string, Tools]>([
    ['without train tasks', { tasks: GATE }],
    ['with too few of them', { tasks: [...GATE, ...TRAIN.slice(0, 3)] }],
    ['where the share is 0', { settings: { screen_share: 0 } }],
    ['where its budget is too small', { settings: { max_episodes_per_step: 10 } }],
  ])('%s: it asks once, and its change goes to the gate', async (_, tools) => {
    const { bench, briefs, trials } = world([[GOOD], [BETTER]], tools)
    expect(await (await bench).step()).toMatchObject({ kind: 'publish' })
    expect(briefs).toHaveLength(1)
    expect(trials()).toEqual([])
  })

  it('for a request', async () => {
    const { bench, briefs, trials } = world([[GOOD], [BETTER]])
    expect(await (await bench).step({ request: REQUEST })).toMatchObject({ kind: 'publish' })
    expect([briefs.length, trials()]).toEqual([1, []])
  })
})

describe('the budget of a step', () => {
  it('is shared: the screening plays no more than its part', async () => {
    const { bench, trials } = world([[GOOD], [BETTER]], { settings: { max_episodes_per_step: 30, screen_share: 0.4 } })
    expect(await (await bench).step()).toMatchObject({ kind: 'publish' })
    expect(trials().length).toBeLessThanOrEqual(12)
    expect(trials().length).toBeGreaterThan(0)
  })
})

describe('a step that is stopped in the screening', () => {
  it('asks no proposer again, and plays no episode twice', async () => {
    const [stop, all] = [new AbortController(), [] as string[]]
    const run = adding(all)
    const tools: Tools = {
      run: async (play, signal) => {
        if (all.length === 5) stop.abort()
        signal.throwIfAborted()
        return run(play, signal)
      },
    }
    const { bench, briefs } = world([[GOOD], [BAD], [BETTER]], tools)
    const opened = await bench
    await expect(opened.step({}, stop.signal)).rejects.toThrow()
    const before = all.length
    expect(before).toBe(5)
    const again = await opened.step({})
    expect(again).toMatchObject({ kind: 'publish', metrics: { screened_changes: 3, screened_kept: 2 } })
    expect(briefs).toHaveLength(3)
    expect(opened.lines).toContain('proposer uses the proposals of the last attempt, which did not end')
    const undisturbed = world([[GOOD], [BAD], [BETTER]])
    await (await undisturbed.bench).step({})
    expect(all).toEqual(undisturbed.played)
  })
})

const isTooLittle = ({ history, pairs }: Question): boolean => history.decided > 0 && pairs.length === 0

describe('a screened change whose budget ended', () => {
  it('goes on in the next step, which asks for no other', async () => {
    const ROUND = GATE.length
    let rounds = 1
    const selection: Selection = {
      next: ({ pairs, tasks }) =>
        pairs.length < rounds * ROUND ? tasks.map(({ name }) => ({ task: name, repeat: pairs.length / ROUND })) : [],
      decide: (pairs) =>
        pairs.length < 2 * ROUND ? { selected: false, reason: 'more', isOpen: true } : { selected: true, reason: 'enough' },
    }
    const { bench, briefs } = world([[GOOD], [BETTER]], { selection })
    const opened = await bench
    expect(await opened.step()).toMatchObject({ kind: 'reject', state: { proving: { steps: 1 }, decided: 1 } })
    rounds = 2
    const second = await opened.step()
    expect(second).toMatchObject({ kind: 'publish', metrics: { pairs_resumed: ROUND }, state: { proving: null, decided: 1 } })
    expect(metric(second, 'screened_changes')).toBeUndefined()
    expect(briefs).toHaveLength(2)
    expect(opened.lines).toContain('proposer goes on with the change of the last step, which is not decided yet')
  })

  it('goes on at its own level where the tasks are too few for a new change', async () => {
    const ROUND = GATE.length
    let rounds = 1
    const selection: Selection = {
      next: (question) =>
        isTooLittle(question) || question.pairs.length >= rounds * ROUND
          ? []
          : question.tasks.map(({ name }) => ({ task: name, repeat: question.pairs.length / ROUND })),
      decide: (pairs, question) => {
        if (isTooLittle(question)) return { selected: false, reason: 'too few tasks' }
        return pairs.length < 2 * ROUND ? { selected: false, reason: 'more', isOpen: true } : { selected: true, reason: 'enough' }
      },
    }
    const { bench, briefs } = world([[GOOD], [BETTER]], { selection })
    const opened = await bench
    expect(await opened.step()).toMatchObject({ kind: 'reject', state: { proving: { steps: 1 }, decided: 1 } })
    rounds = 2
    expect(await opened.step()).toMatchObject({ kind: 'publish', metrics: { pairs_resumed: ROUND }, state: { proving: null } })
    expect(await opened.step()).toMatchObject({ kind: 'skip', reason: 'too few tasks' })
    expect(briefs).toHaveLength(2)
  })

  it('makes way for others where a step plays no further pair', async () => {
    const selection: Selection = {
      next: ({ pairs, tasks }) => (pairs.length === 0 ? tasks.map(({ name }) => ({ task: name, repeat: 0 })) : []),
      decide: () => ({ selected: false, reason: 'hopeless', isOpen: true }),
    }
    const { bench, briefs } = world([[GOOD], [BETTER]], { selection })
    const opened = await bench
    expect(await opened.step()).toMatchObject({ state: { proving: { steps: 1 } } })
    expect(await opened.step()).toMatchObject({ kind: 'reject', state: { proving: null } })
    expect(briefs).toHaveLength(2)
  })
})
