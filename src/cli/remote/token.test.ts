/** `svc token` and `svc audit` against a running service. */
import { describe, expect, test } from 'vitest'
import { sharedWorld } from '../../../test/support/world.ts'
import { execute, fakeSurroundings } from '../testing/surroundings.ts'

const TOKEN = 'admin-token-of-the-test'
const here = sharedWorld({ settings: { 'svc.token': TOKEN } })

const type = (args: readonly string[], token = TOKEN) => execute(args, fakeSurroundings({}, { SVC_URL: here.address, SVC_TOKEN: token }))
const made = async (...args: readonly string[]): Promise<string> => (await type(['token', 'create', ...args])).out.split('\n')[0] ?? ''

describe('svc token', () => {
  test('create prints the secret first, alone in its line, and what it is; list never does', async () => {
    const { exit, out } = await type([
      'token',
      'create',
      'laptop',
      '--role',
      'agent',
      '--scenario',
      'a',
      '--scenario',
      'b',
      '--expires',
      '90',
    ])
    expect(exit).toBe(0)
    expect(out).toMatch(
      /^svc_token_[\w-]{43}\nThis is laptop: role agent, scenarios: a, b, expires: \d{4}-\d\d-\d\dT\d\d:\d\d, limits: as configured\.\nIt is shown this once; only its hash is kept\.$/,
    )
    const listed = await type(['token', 'list'])
    expect(listed.out).toMatch(/^NAME +ROLE +SCENARIOS +EXPIRES +MADE +BY +USED\nlaptop +agent +a, b +\d{4}-.*svc\.token +—/)
    expect(listed.out).not.toContain('svc_token_')
    const { tokens } = JSON.parse((await type(['token', 'list', '--json'])).out)
    expect(tokens).toMatchObject([{ name: 'laptop', role: 'agent', scenarios: ['a', 'b'] }])
  })

  test('rotate prints another secret, revoke ends it, and both say what they did as JSON', async () => {
    const first = await made('machine', '--role', 'serve')
    const rotated = JSON.parse((await type(['token', 'rotate', 'machine', '--json'])).out)
    expect(rotated).toMatchObject({ name: 'machine', role: 'serve', expires_at: null })
    expect(rotated.token).not.toBe(first)
    expect(JSON.parse((await type(['token', 'revoke', 'machine', '--json'])).out)).toEqual({ name: 'machine', revoked: true })
    expect(await type(['token', 'revoke', 'machine'])).toMatchObject({ exit: 1, err: [expect.stringContaining('no token of that name')] })
  })

  test('limits are given at the making, changed one by one, shown with their use, and cleared', async () => {
    const created = await type(['token', 'create', 'ci', '--role', 'serve', '--requests-per-minute', '600', '--concurrent-requests', '4'])
    expect(created.out).toContain('limits: 600 requests a minute, 4 requests at once.')
    expect((await type(['token', 'limit', 'ci', '--tokens-per-minute', '9000', '--concurrent-requests', '0'])).out).toBe(
      'ci: limits: 600 requests a minute, 9,000 tokens a minute, any requests at once',
    )
    expect((await type(['token', 'list'])).out).toContain('0 of 600 requests a minute, 0 of 9,000 tokens a minute')
    const cleared = await type(['token', 'limit', 'ci', '--clear', '--requests-per-minute', '5', '--json'])
    expect(JSON.parse(cleared.out)).toMatchObject({ name: 'ci', limits: { requests_per_minute: 5 } })
    expect((await type(['token', 'limit', 'ci', '--clear'])).out).toBe('ci: limits: as configured')
  })

  test.each([
    [['create', 'x', '--role', 'serve', '--requests-per-minute', '-1'], 'It must be a number from 0 to 1000000000; 0 is no limit.'],
    [['create', 'x', '--role', 'serve', '--requests-per-minute', '1.5'], 'It must be a whole number; 0 is no limit.'],
    [['limit', 'ci', '--cost-per-day', 'much'], 'It must be a number from 0 to 1000000000; 0 is no limit.'],
    [['limit', 'ci', '--tokens-per-minute', ''], 'It must be a number from 0'],
    [['limit', 'ci'], 'name a limit to change, such as --requests-per-minute 60'],
  ])('limits that are none are refused in one line: %j', async (args, said) => {
    expect(await type(['token', ...args])).toMatchObject({ exit: 2, err: [expect.stringContaining(said)] })
  })

  test('a limit of money is refused where no model has a price, and of a token that is not there', async () => {
    await made('poor', '--role', 'serve')
    expect(await type(['token', 'limit', 'poor', '--cost-per-day', '5'])).toMatchObject({
      exit: 1,
      err: [expect.stringMatching(/no model has a price.*set limits\.prices/)],
    })
    expect(await type(['token', 'limit', 'none', '--requests-per-minute', '5'])).toMatchObject({
      exit: 1,
      err: [expect.stringContaining('no token of that name')],
    })
  })

  test('misuse is one line: no role, an unknown one, days that are none, a name that is taken', async () => {
    expect(await type(['token', 'create', 'x'])).toMatchObject({ exit: 2, err: [expect.stringContaining('--role <role>')] })
    expect(await type(['token', 'create', 'x', '--role', 'root'])).toMatchObject({
      exit: 2,
      err: [expect.stringContaining('admin, review')],
    })
    expect(await type(['token', 'create', 'x', '--role', 'read', '--expires', '0'])).toMatchObject({ exit: 2 })
    await made('taken', '--role', 'read')
    expect(await type(['token', 'create', 'taken', '--role', 'read'])).toMatchObject({
      exit: 1,
      err: [expect.stringContaining('choose another name')],
    })
  })

  test('a token that may not do this is told which one may; one that is unknown how to give another', async () => {
    const reader = await made('reader', '--role', 'read')
    expect(await type(['token', 'list'], reader)).toMatchObject({ exit: 1, err: [expect.stringMatching(/role read.*roles: admin$/)] })
    expect(await type(['token', 'list'], 'wrong')).toMatchObject({ exit: 1, err: [expect.stringContaining('export SVC_TOKEN=')] })
    const short = await made('short', '--role', 'read', '--expires', '0.000000000001')
    expect(await type(['status'], short)).toMatchObject({ exit: 1, err: [expect.stringContaining('svc token rotate short')] })
  })

  test('an empty list says how to make one', async () => {
    for (const { name } of JSON.parse((await type(['token', 'list', '--json'])).out).tokens) await type(['token', 'revoke', name])
    expect((await type(['token', 'list'])).out).toContain('svc token create NAME --role read')
  })
})

describe('svc audit', () => {
  test('shows the newest first; with --json every entry is a line, oldest first, from where an export stopped', async () => {
    await here.post('/svc/scenarios', { name: 'audited' }, { authorization: `Bearer ${TOKEN}` })
    await made('audited-token', '--role', 'read')
    const { out } = await type(['audit', '-n', '2'])
    expect(out.split('\n')).toHaveLength(3)
    expect(out).toMatch(
      /^ *# +WHEN +WHO +FROM +ACTION.*\n.*svc\.token +127\.0\.0\.1 +createToken +audited-token .*\n.*createScenario +audited /,
    )
    const lines = (await type(['audit', '--json'])).out.split('\n').map((line): { sequence: number; action: string } => JSON.parse(line))
    expect(lines.map(({ sequence }) => sequence)).toEqual(lines.map((_, at) => at + 1))
    const later = (await type(['audit', '--json', '--after', String(lines.length - 1)])).out
    expect(JSON.parse(later)).toEqual(lines.at(-1))
    expect((await type(['audit', '--json', '--scenario', 'audited'])).out.split('\n')).toHaveLength(1)
  })
})

describe('svc webhooks', () => {
  test('retry says in one line where there is nothing to send again', async () => {
    expect(await type(['webhooks', 'retry'])).toMatchObject({
      exit: 1,
      err: [expect.stringContaining('configure a target under webhooks')],
    })
  })
})
