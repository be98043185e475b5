/** Status and releases of a service that holds something for review. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { trainee } from '../../../test/spec/support/trainee.ts'
import { until } from '../../../test/support/wait.ts'
import { ownWorld, sharedWorld } from '../../../test/support/world.ts'
import { HOLDING, typeCommand } from '../testing/surroundings.ts'

const RUDE = 'be brief \u001b]0;owned\u0007\u202e'
const here = sharedWorld({ settings: HOLDING })
beforeAll(async () => {
  await here.exchange('support')
  await here.exchange('a b')
  await trainee(here, 'support').ask(RUDE)
  await trainee(here, 'support').row(1)
})

const type = (...args: readonly string[]) => typeCommand(here.address, args)

describe('status', () => {
  test('names the model that answers, what each scenario serves, and what to do about what waits', async () => {
    const { exit, out } = await type('status')
    expect(exit).toBe(0)
    expect(out.split('\n')[0]).toBe(here.address)
    expect(out).toMatch(/provider answers from http:\/\/127\.0\.0\.1:\d+\n +3 records \(.* of .*\)/)
    expect(out).toMatch(/^support +v0 [0-9a-f]{8} +manual +1 held/m)
    expect(out).toMatch(/^a b +v0 /m)
    expect(out).toContain('waits for review: svc promote v1 --scenario support')
  })

  test('of one scenario shows that one only', async () => {
    const { out } = await type('status', '--scenario', 'a b')
    expect(out).not.toContain('support')
  })

  test('as JSON is one object with everything', async () => {
    const { out } = await type('status', '--json')
    expect(JSON.parse(out)).toMatchObject({
      url: here.address,
      error: null,
      storage: { records: 3 },
      scenarios: [
        { scenario: 'a b', held: [] },
        { scenario: 'support', loaded: true, held: [{ step: 1 }], status: { training_mode: 'manual' } },
      ],
    })
  })

  test('of a service without scenarios says how there will be one', async () => {
    const empty = await ownWorld()
    expect(await typeCommand(empty.address, ['status'])).toMatchObject({ exit: 0, out: expect.stringContaining('no scenario yet') })
    expect(await typeCommand(empty.address, ['releases'])).toMatchObject({ exit: 1, err: [expect.stringContaining('no scenario yet')] })
  })
})

describe('releases', () => {
  test('shows each step, marks what is served, and spells out what a terminal would act on', async () => {
    const { exit, out } = await type('releases', 'support')
    expect(exit).toBe(0)
    const [heading, , titles, first, second] = out.split('\n')
    expect(heading).toMatch(/^support: 2 steps, serves v0 [0-9a-f]{8}$/)
    expect(titles).toMatch(/RELEASE OR TIME +BY +RESULT +WHEN +ABOUT/)
    expect(first).toMatch(/^ +v1 +[0-9a-f]{8} +train +held +.* +be brief \[U\+001B\]\]0;owned\[U\+0007\]\[U\+202E\]$/)
    expect(second).toMatch(/^\* +v0 +[0-9a-f]{8} +create +starting point/)
    expect(out).toContain('1 release waits for review: svc promote v1 --scenario support')
  })

  test('fits the terminal', async () => {
    const { out } = await typeCommand(here.address, ['releases', 'support'], { width: 48 })
    const rows = out.split('\n').slice(2, 5)
    for (const line of rows) expect(line.length).toBeLessThanOrEqual(48)
  })

  test('as JSON is what the service lists, without what a terminal would act on', async () => {
    const { out } = await type('releases', 'support', '--json')
    expect(JSON.parse(out)).toMatchObject({ scenario: 'support', releases: [{ training_request: { text: RUDE } }, { step: 0 }] })
    expect(out).not.toContain('\u202e')
  })
})

test('a webhook that refused events is named with the command that sends them again', async () => {
  const there = await ownWorld({ backend: 'sqlite' })
  const folder = join(there.directory, 'records', 'webhooks')
  await mkdir(folder, { recursive: true })
  await writeFile(
    join(folder, 'chat.set-aside.json'),
    JSON.stringify([{ id: '1', event: 'held', body: '{}', recordedAt: Date.now() / 1000 }]),
  )
  await there.restart({
    'webhooks.chat.url': 'http://127.0.0.1:9/',
    'webhooks.chat.secret': `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
    'webhooks.chat.allow_inside': true,
  })
  expect((await typeCommand(there.address, ['status'])).out).toContain(
    'webhook chat refused 1 event; mend the target, then: svc webhooks retry',
  )
  expect((await typeCommand(there.address, ['webhooks', 'retry'])).out).toMatch(/^1 event sent again now/)
})

describe('a scenario that must be named', () => {
  test('is asked for in one line, with the names and the next command', async () => {
    expect(await type('releases')).toMatchObject({ exit: 2, err: ["which scenario? There are 'a b', support: svc releases 'a b'"] })
    expect((await type('records', '--id', 'r 1')).err).toEqual(["which scenario? There are 'a b', support: svc records 'a b' --id 'r 1'"])
  })

  test('that does not exist is refused with the names that do', async () => {
    expect(await type('releases', 'unknown')).toMatchObject({
      exit: 1,
      err: ["no scenario has that name; there are 'a b', support: svc releases 'a b'"],
    })
    expect((await type('status', '--scenario', 'unknown')).exit).toBe(1)
  })
})

test('status shows the workers, what waits and what was played, where there are any', async () => {
  expect((await type('status')).out).not.toContain('worker')
  const taking = new AbortController()
  void fetch(`${here.address}/svc/fleet/take`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ worker: `first ${RUDE}`, plays: ['x'], slots: 2 }),
    signal: taking.signal,
  }).catch(() => undefined)
  await until(async () => (await here.get('/svc/fleet')).text.includes('first'))
  expect((await type('status')).out).toContain('  1 worker: 0 episodes played now, 0 waiting; in the last hour nothing was played')
  expect(JSON.parse((await type('status', '--json')).out)).toMatchObject({ fleet: { workers: [{ slots: 2 }], waiting: 0 } })
  taking.abort()
})
