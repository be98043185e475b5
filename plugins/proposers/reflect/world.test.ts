import { expect, it } from 'vitest'
import type { Entry, JsonObject, Model, Mutation, Rejected, Task, Trial } from '../../../src/contract/index.ts'
import { admit } from '../../../src/harness/index.ts'
import { plain } from '../../../src/harness/testing/adapters.ts'
import { objectOf, parsed, textOf } from '../../../src/dialects/index.ts'
import { lessonsIn } from '../../runtimes/practice/rules.ts'
import { isRight, playTask, type Harness } from '../../runtimes/practice/score.ts'
import { PRACTICE_TASKS, type PracticeTask } from '../../runtimes/practice/tasks.ts'
import { practice, practiceModel, toolOf } from '../../runtimes/practice/testing.ts'
import { messagesFor } from './prompt.ts'
import { reflect } from './reflect.ts'
import { briefOf, trialOf } from './testing.ts'

const FAMILIES = ['roman', 'dates', 'counting', 'reversing', 'json-field', 'sorting', 'arithmetic', 'lookup']
const SETTINGS = { trialsMax: 12, candidatesMax: 3 }
const STEPS_MAX = 6
const MIXED_STEPS_MAX = 25

function harnessOf(entries: readonly Entry[]): Harness {
  const texts = (kind: string): readonly string[] => entries.filter(({ name }) => name === kind).map(({ config }) => textOf(config['text']))
  const skills = texts('skill')
  const listed = skills.map((text) => `- ${/name: (.*)/.exec(text)?.[1]}: ${/description: (.*)/.exec(text)?.[1]}`)
  return {
    rules: [...texts('rules'), '## Skills', ...listed].join('\n'),
    tools: [toolOf('skill', 'name')],
    run: (_, input) => skills.find((text) => text.includes(`name: ${textOf(objectOf(parsed(input))['name'])}\n`)) ?? '',
  }
}

const playOf = (entries: readonly Entry[], task: PracticeTask): string => playTask(task, harnessOf(entries), 0)

/** The model's draws depend on the prompt, so the random tokens of fences are removed. */
const mockModel = (): Model => practiceModel(practice(), (content) => content.replaceAll(/[0-9a-f]{16}>>>/g, '>>>'))

const tasksOf = (family: string): readonly PracticeTask[] => PRACTICE_TASKS.filter(({ name }) => name.startsWith(`${family}-`))

const scoreOf = (entries: readonly Entry[], tasks: readonly PracticeTask[]): number =>
  tasks.filter((task) => isRight(task, playOf(entries, task))).length / tasks.length

interface Life {
  readonly entries: readonly Entry[]
  readonly offered: number
  readonly published: number
}

/** Steps with a gate that publishes whatever does better on all tasks. */
async function live(tasks: readonly PracticeTask[], train: readonly PracticeTask[], stepsMax: number): Promise<Life> {
  const served = mockModel()
  let entries: readonly Entry[] = []
  let memory: JsonObject = {}
  let published = 0
  const rejected: Rejected[] = []
  for (let step = 1; step <= stepsMax && scoreOf(entries, tasks) < 1; step += 1) {
    const current = entries
    const brief = briefOf(plain, {
      entries,
      memory,
      rejected,
      tasks: train.map(({ name, prompt }): Task => ({ name, prompt, role: 'train' })),
      models: { served },
      samples: [{ record_ids: [`report-${step}`], exchanges: [], score: 0, feedback: 'wrong' }],
      trial: async (mutations, { name }) => trialIn(treeOf(current, mutations), train, name),
    })
    const proposal = await reflect(brief, SETTINGS)
    memory = proposal?.memory ?? memory
    const { mutations = [] } = proposal ?? {}
    const candidate = treeOf(entries, mutations)
    if (scoreOf(candidate, tasks) > scoreOf(entries, tasks)) {
      entries = candidate
      published += 1
    } else if (mutations.length > 0) rejected.push({ step, mutations, reason: 'it did no better' })
  }
  return { entries, offered: published + rejected.length, published }
}

function trialIn(entries: readonly Entry[], tasks: readonly PracticeTask[], name: string): Trial {
  const task = tasks.find((each) => each.name === name)
  if (task === undefined) return { score: null, failure: 'no such task', episode: null }
  const reply = playOf(entries, task)
  return trialOf(isRight(task, reply) ? 1 : 0, reply)
}

it.each(FAMILIES)(
  'finds what fixes the family %s from its train tasks, step by step, and its other tasks are fixed too',
  async (family) => {
    const tasks = tasksOf(family)
    const held = tasks.slice(5)
    const { entries } = await live(tasks, tasks.slice(0, 5), STEPS_MAX)
    expect(scoreOf([], held)).toBeLessThan(1)
    expect(scoreOf(entries, held)).toBe(1)
  },
)

it('goes on finding fixes where many families are mixed, and seldom offers what is none', async () => {
  const tasks = FAMILIES.flatMap(tasksOf)
  const train = tasks.filter((_, index) => index % 2 === 0)
  const { entries, offered, published } = await live(tasks, train, MIXED_STEPS_MAX)
  expect(scoreOf([], tasks)).toBeLessThan(0.4)
  expect(scoreOf(entries, tasks)).toBeGreaterThan(0.7)
  expect(published / offered).toBeGreaterThan(0.5)
})

function treeOf(entries: readonly Entry[], mutations: readonly Mutation[]): readonly Entry[] {
  if (mutations.length === 0) return entries
  const tree = admit(plain, entries, mutations)
  if (!tree.admitted) throw new Error(tree.reason)
  return tree.entries
}

it('makes of a request what the model makes of it', async () => {
  const request = { id: 't', text: 'Greet me by name.', session: 's', release_id: 'r', requires: [] }
  const proposal = await reflect(briefOf(plain, { request, models: { served: mockModel() } }), SETTINGS)
  expect(proposal?.mutations).toMatchObject([{ op: 'create', options: { name: 'rules', config: { text: 'Greet me by name.' } } }])
})

it('says nothing in its own words that would pass for a lesson about the tasks', () => {
  const brief = briefOf(plain, { samples: [{ record_ids: ['r'], exchanges: [], score: 0, feedback: null }] })
  const [, user] = messagesFor(brief, { current: [], tried: [], candidates: [] })
  expect(lessonsIn(user?.content ?? 'State the answer alone on the last line.')).toEqual([])
})
