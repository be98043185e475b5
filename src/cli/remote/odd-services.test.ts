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

const means = (score: number, cost: number, seconds: number) => ({
  candidate_mean_score: score,
  candidate_mean_cost: cost,
  candidate_mean_seconds: seconds,
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
    expect(out).toMatch(/^ +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +train +failed +\d+ d ago +the model is away$/m)
    expect(out).toMatch(/^\* +v2 +22222222 +train +published +0\.5 → 0\.9 +\d+ d ago +shorter$/m)
    expect(out).toMatch(/^ +v1 +1{8} +train +published +0\.2 → 0\.5 +\d+ d ago +better on 7 of 7 tasks$/m)
  })

  test('compares what was tried by score, cost and time, in a table and as JSON', async () => {
    const url = await answering({
      '/svc/scenarios': { scenarios: [scenario('good')] },
      '/svc/scenarios/good/releases': {
        releases: [
          row(3, { content_id: 'd', result: 'rejected', metrics: means(0.4, 0.5, 90) }),
          row(2, { current: true, metrics: means(0.9, 0.02, 8) }),
          row(1, { content_id: 'b', metrics: { candidate_mean_score: 0.5, current_mean_score: 0.2 } }),
          row(0, { content_id: 'a', operation: 'create' }),
        ],
      },
    })
    const { out } = await typeCommand(url, ['releases', 'good', '--pareto'])
    expect(out).toMatch(/^good: 4 trees were tried, and nothing beats 2 of them; means per episode$/m)
    expect(out).toMatch(/^\* +v2 +published +0\.9 +0\.02 +8 s +yes$/m)
    expect(out).toMatch(/^ +1970-01-01 00:00:01 +rejected +0\.4 +0\.50 +90 s *$/m)
    expect(out).toMatch(/^ +v0 +starting point +0\.2 +unknown +unknown *$/m)
    const { pareto } = JSON.parse((await typeCommand(url, ['releases', 'good', '--pareto', '--json'])).out)
    const said = { outcome: 'published', mean_score: 0.9, mean_cost: 0.02, mean_seconds: 8, served: true, on_frontier: true }
    expect(pareto[0]).toEqual({ step: 2, release_id: '2'.repeat(40), ...said })
    expect((await typeCommand(await troubled(), ['releases', 'good', '--pareto'])).out).toContain('3 trees were tried')
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

const reason = (power: string, entry: string, why: string): object => ({ power, entry, why })
const serving = (metrics: object): Promise<string> => {
  const held = row(2, { pending: true, result: 'pending', metrics })
  return answering({
    '/svc/scenarios': { scenarios: [scenario('good')] },
    '/svc/scenarios/good/releases': { releases: [held, row(1, { current: true }), row(0, { operation: 'create' })] },
    '/svc/scenarios/good/promote': { step: 3, release_id: 'x', content_id: 'c' },
    '/svc/status': { ...STATUS, error: null, preload_errors: {} },
  })
}

describe('a held change', () => {
  const RUNS = { powers: ['words', 'runs'], held_powers: ['runs'], power_reasons: [reason('runs', 'helper', 'it holds code')] }
  const BLOCK = [
    'What this change may do:',
    '  This change may run programs on your machine. It needs a person.',
    '    helper: it holds code',
    '  The operator does not allow this without a person: runs. evolution.publish_powers lists what is allowed.',
  ].join('\n')

  test('is shown with what it may do: by releases, by status, and by promote', async () => {
    const address = await serving(RUNS)
    expect((await typeCommand(address, ['releases', 'good'])).out).toContain(`\nv2: ${BLOCK}\n\n1 release waits for review: svc promote v2`)
    expect((await typeCommand(address, ['status'])).out).toContain('--scenario good (it may run programs on your machine)')
    expect((await typeCommand(address, ['promote', 'v2'])).out).toContain(`, the content of v2\n${BLOCK}`)
  })

  test('that is only words is one line, and promote says nothing of it', async () => {
    const address = await serving({ powers: ['words'], held_powers: [] })
    expect((await typeCommand(address, ['releases', 'good'])).out).toContain('\nv2: Only words: it is plain text for the model.\n')
    expect((await typeCommand(address, ['promote', 'v2'])).out).not.toContain('change')
  })

  test('of an older row is not known', async () => {
    const { out } = await typeCommand(await serving({ mutations: [{ op: 'remove', id: 'x' }] }), ['releases', 'good'])
    expect(out).toContain('is not known')
  })

  test('cannot control the terminal, nor fill it', async () => {
    const rude = 'a\u001b]0;owned\u0007\u202e\r\nv9: Only words\u009b2J'
    const power_reasons = Array.from({ length: 10_000 }, () => reason('runs', rude, rude))
    for (const command of [['releases', 'good'], ['status'], ['promote', 'v2']]) {
      const { out } = await typeCommand(await serving({ powers: ['runs', rude], held_powers: [rude], power_reasons }), command, {
        width: 80,
      })
      expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
      expect(out).not.toMatch(/^v9/m)
      expect(out.length).toBeLessThan(4000)
    }
  })
})
