/** How a run looks on a terminal, in a file, and to a program. */
import { expect, it } from 'vitest'
import type { ImproveEvent } from '../../improve/index.ts'
import { fakeSurroundings, type FakeTerminal } from '../testing/surroundings.ts'
import { openScreen } from './screen.ts'

const SCORE = {
  role: 'gate',
  failure: null,
  seconds: 1,
  model_calls: 2,
  input_tokens: 10,
  cached_tokens: 0,
  output_tokens: 1,
  cost: null,
  kept: false,
} as const
const EVENTS: readonly ImproveEvent[] = [
  { event: 'found', agent: 'claude', why: 'by its files', files: ['CLAUDE.md'], left_out: [{ path: 'x\u001B[2J', why: 'it is odd\n' }] },
  {
    event: 'tasks',
    tasks: [
      { name: 'one', role: 'gate' },
      { name: 'two', role: 'train' },
    ],
    folder: '/f',
  },
  { event: 'played', side: 'before', task: 'one', score: 0, ...SCORE },
  { event: 'played', side: 'before', task: 'two', score: null, ...SCORE, failure: 'the model failed' },
  {
    event: 'estimate',
    budget: 100,
    used: 2,
    episodes: 98,
    model_calls: 196,
    input_tokens: 980,
    output_tokens: 98,
    cost: 1.5,
    seconds: 600,
    shortage: { decisions: 2, reason: 'this decision needs 8; add 3' },
  },
  { event: 'round', round: 1, tasks: ['two'], episodes_max: 49 },
  { event: 'progress', round: 1, episodes: 4, seconds_left: 30 },
  { event: 'step', round: 1, result: 'published', reason: 'better\u202E', episodes: 8, model_calls: 1 },
  { event: 'played', side: 'after', task: 'one', score: 1, ...SCORE },
  {
    event: 'result',
    improved: true,
    rounds: [],
    tasks: [{ name: 'one', role: 'gate', before: 0, after: 1 }],
    episodes: 11,
    model_calls: 7,
    input_tokens: 1200,
    output_tokens: 30,
    cost: null,
  },
  { event: 'change', folder: '/r', files: ['CLAUDE.md'], branch: 'better', commit: 'abc' },
]

interface TestScreen {
  readonly terminal?: FakeTerminal
  readonly environment?: Readonly<Record<string, string>>
}

function shown(json: boolean, { terminal, environment }: TestScreen = {}, events = EVENTS): string {
  const surroundings = fakeSurroundings({}, environment, terminal)
  const screen = openScreen(surroundings, json)
  for (const event of events) screen.show(event)
  return surroundings.printed.join('\n')
}

it.each<[string, TestScreen?]>([
  ['without a terminal'],
  ['on a terminal that cannot draw', { terminal: { width: 100 }, environment: { TERM: 'dumb' } }],
])('%s every event is plain lines, in which nothing controls the terminal', (_, on) => {
  expect(shown(false, on).split('\n')).toEqual([
    'claude, by its files: CLAUDE.md',
    'left out, and not touched: x[U+001B][2J: it is odd',
    '2 tasks: 1 gate, 1 train',
    'before one: 0',
    'before two: no score (the model failed)',
    'enough tasks for 2 decisions, and too few for more: this decision needs 8; add 3',
    'the rest takes at most 98 episodes, about 196 model calls besides those that write changes, 980 tokens in and 98 out, 1.50 by the configured prices, 10 minutes; it ends earlier where nothing more is found',
    'round 1: learns from two; at most 49 episodes',
    'round 1: 4 episodes played, at most 30 seconds left',
    'round 1: published: better[U+202E]',
    'after one: 1',
    'improved: 0 rounds, 11 episodes, 1,200 tokens in, 30 out, cost unknown',
    'gate: 0 before, 1 after (1 task)',
    '1 file changed: branch better, commit abc',
  ])
})

it('for programs every event is one object, and means what it was', () => {
  const lines = shown(true).split('\n')
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual(EVENTS)
  expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
})

it('on a terminal the table is drawn again in place, and shows what is known so far', () => {
  const drawn = shown(false, { terminal: { width: 100 } }).split('\u001B[J')
  const last = drawn.at(-1)?.split('\n') ?? []
  expect(last.slice(-4)).toEqual(
    ['TASK  ROLE   BEFORE  AFTER', 'one   gate        0      1', 'two   train       -       ', '11 episodes, 7 model calls'].map((line) =>
      expect.stringMatching(new RegExp(`^${line.trimEnd()} *$`)),
    ),
  )
  // Each drawing goes up over just the lines of the table before it.
  expect(drawn.slice(1, -1).filter((part) => !/\[\dA$/.test(part))).toEqual([])
})

it('on a terminal what stays above the table is whole, however long: the command that applies the patch is one to copy', () => {
  const patch = `/home/me/${'long/'.repeat(30)}change.patch`
  const event: ImproveEvent = { event: 'change', folder: '/r', files: ['CLAUDE.md'], patch }
  expect(shown(false, { terminal: { width: 80 } }, [event])).toContain(`1 file changed: apply it with: git -C /r apply ${patch}\n`)
})

it('on a terminal a question is not drawn over, and neither is a part of the table above it', async () => {
  const surroundings = fakeSurroundings({}, {}, { width: 100, answers: ['y'] })
  const screen = openScreen(surroundings, false)
  for (const event of EVENTS.slice(0, 4)) screen.show(event)
  expect(await screen.ask('Go on? ')).toBe('y')
  const before = surroundings.printed.length
  for (const event of EVENTS.slice(5, 7)) screen.show(event)
  expect(surroundings.printed.slice(before).map((part) => part.includes('\u001B'))).toEqual([false, true])
})

it.each([2, 4, 5, 10, 23, 60])('on a terminal of %i lines no drawing is higher than it, and the tasks left out are counted', (height) => {
  const names = Array.from({ length: 30 }, (_each, at) => `task-${at}`)
  const tasks: ImproveEvent = { event: 'tasks', tasks: names.map((name) => ({ name, role: 'gate' })), folder: '/f' }
  const played = names.map((task): ImproveEvent => ({ event: 'played', side: 'before', task, score: 0, ...SCORE }))
  const drawn = shown(false, { terminal: { width: 100, height } }, [tasks, ...played]).split('\u001B[J')
  const last = drawn.at(-1)?.split('\n') ?? []
  // Beside its lines the cursor needs one.
  expect(last.length).toBeLessThan(height)
  const rows = Math.min(24, Math.max(0, height - 4))
  expect(last.filter((line) => line.startsWith('task-'))).toHaveLength(rows)
  expect(last.slice(-2)).toEqual([...(rows === 0 ? [] : [`and ${30 - rows} more`]), '30 episodes, 60 model calls'])
})

it('tells a person and a program where the scenario is served, and by which token', () => {
  const event = { event: 'serving', scenario: 'improve', url: 'http://127.0.0.1:4321', token: 'the-token' } as const
  const [person, program] = [fakeSurroundings(), fakeSurroundings()]
  openScreen(person, false).show(event)
  openScreen(program, true).show(event)
  expect(person.printed).toEqual(['serving the scenario improve at http://127.0.0.1:4321; SVC_TOKEN=the-token'])
  expect(program.printed.map((line) => JSON.parse(line))).toEqual([event])
})
