/** Rare answers of a service: scores over many releases, a broken scenario, more names than fit a line. */
import { describe, expect, test } from 'vitest'
import { testServer } from '../../../test/support/server.ts'
import { typeCommand } from '../testing/surroundings.ts'

const row = (step: number, more: object): object => ({
  step,
  release_id: `${step}`.repeat(40),
  content_id: 'c',
  parent_release_id: null,
  operation: 'train',
  recorded_at: 1,
  pending: false,
  restorable: true,
  current: false,
  result: 'published',
  metrics: {},
  ...more,
})
const RELEASES = [
  row(3, { result: 'failed', metrics: { error: 'the model\nis away' } }),
  row(2, { current: true, metrics: { current_score: 0.5, candidate_score: 0.9, proposal: { reason: 'shorter' } } }),
  row(1, { metrics: { current_score: 0.2, candidate_score: 0.5, selection: { reason: 'better on\n7 of 7 tasks' } } }),
  row(0, { operation: 'create' }),
]
const scenario = (name: string): object => ({ scenario: name, loaded: true, recipe: 'harness' })

/** Answers these paths, and 500 to any other. */
const answering = (answers: Readonly<Record<string, object>>): Promise<string> =>
  testServer((request, response) => {
    const answer = answers[request.url?.replace(/\?.*/, '') ?? '']
    response.writeHead(answer === undefined ? 500 : 200).end(JSON.stringify(answer ?? { error: { message: 'broken', code: 'internal' } }))
  })

const STATUS = {
  error: 'good: StepFailure: the model\u001b[2J is away\nbad: no disk',
  preload_errors: { lost: 'its recipe is gone' },
  last_drain_at: null,
  scenarios: { good: { training_mode: 'auto', processor: { pending_instructions: 2 } }, bad: { error: 'fix it' } },
  serving: null,
  training_job: null,
  storage: {},
}

const troubled = (names = ['good', 'bad'], status: object = STATUS): Promise<string> =>
  answering({
    '/svc/scenarios': { scenarios: names.map(scenario) },
    '/svc/scenarios/good/releases': { releases: RELEASES },
    '/svc/status': status,
  })

describe('a service with troubles', () => {
  test('names tasks with no points on either side', async () => {
    const last_committed_step = { step: 3, recorded_at: 1, metrics: { unsolved_tasks: ['sum', 'a\u001b[2J'] } }
    const status = { ...STATUS, scenarios: { good: { training_mode: 'auto', last_committed_step } } }
    const { out } = await typeCommand(await troubled(['good'], status), ['status'])
    expect(out).toContain('good: no points on either side in sum, a[U+001B][2J. Check the evaluator')
  })

  test('shows them, and one broken scenario hides no other', async () => {
    const { exit, out } = await typeCommand(await troubled(), ['status'])
    expect(exit).toBe(0)
    expect(out).toMatch(/^good +v2 2{8} +auto +2 requests +▁▄█ +harness$/m)
    expect(out).toMatch(/^bad +broken/m)
    expect(out.split('\n').slice(-3)).toEqual([
      'good: StepFailure: the model[U+001B][2J is away',
      'bad: no disk',
      'lost could not be loaded: its recipe is gone',
    ])
  })

  test('shows how the scores went, and why a step has no release', async () => {
    const { out } = await typeCommand(await troubled(), ['releases', 'good'])
    expect(out.split('\n')[0]).toBe('good: 4 steps, serves v2 22222222, scores ▁▄█ 0.2 to 0.9')
    expect(out).toMatch(/^ +v3 +train +failed +\d+ d ago +the model is away$/m)
    expect(out).toMatch(/^\* +v2 +22222222 +train +published +0\.5 → 0\.9 +\d+ d ago +shorter$/m)
    expect(out).toMatch(/^ +v1 +1{8} +train +published +0\.2 → 0\.5 +\d+ d ago +better on 7 of 7 tasks$/m)
  })

  test('refuses to promote without a name when one scenario could not be read', async () => {
    expect(await typeCommand(await troubled(), ['promote', 'v2'])).toMatchObject({ exit: 1, err: [expect.stringContaining('broken')] })
  })
})

test('of many scenarios a dozen are named', async () => {
  const scenarios = Array.from({ length: 60 }, (_, at) => scenario(`s${at}`))
  const { exit, err } = await typeCommand(await answering({ '/svc/scenarios': { scenarios } }), ['promote', 'v1'])
  expect(exit).toBe(2)
  expect(err[0]).toMatch(/^which scenario\? There are s0, s1, .*, s11 and 48 more: svc promote v1 --scenario s0$/)
})
