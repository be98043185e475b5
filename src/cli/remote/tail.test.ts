/** Records as they are stored, until the command is stopped. */
import { createServer } from 'node:http'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { importInference, inference, named } from '../../../test/spec/support/helpers.ts'
import { closeServer, listenOnLoopback } from '../../../test/support/listen.ts'
import { makePlace } from '../../../test/support/place.ts'
import { ownWorld, send } from '../../../test/support/world.ts'
import { runCli } from '../program.ts'
import { fakeSurroundings, type FakeSurroundings } from '../testing/surroundings.ts'

function tail(address: string, ...args: readonly string[]): { readonly screen: FakeSurroundings; readonly exit: Promise<number> } {
  const screen = fakeSurroundings({}, { SVC_URL: address })
  return { screen, exit: runCli(['tail', '--interval', '0.01', ...args], screen) }
}

const printed = (screen: FakeSurroundings, lines: number): Promise<void> =>
  vi.waitFor(() => expect(screen.printed.length).toBeGreaterThanOrEqual(lines), { timeout: 20_000 })

describe('tail', () => {
  test('shows the last ten, then what comes, each once and in order, until Ctrl-C', async () => {
    const here = await ownWorld()
    for (let at = 1; at <= 12; at += 1) await importInference(here, 'support', `id-${at}`)
    const { screen, exit } = tail(here.address)
    await printed(screen, 10)
    for (let at = 13; at <= 15; at += 1) await importInference(here, 'support', `id-${at}`)
    await printed(screen, 13)
    screen.signal('SIGINT')
    expect(await exit).toBe(0)
    expect(screen.printed.map((line) => /id-\d+/.exec(line)?.[0])).toEqual(Array.from({ length: 13 }, (_, at) => `id-${at + 3}`))
    expect(screen.printed[0]).toMatch(/^\d\d:\d\d:\d\d {2}inference {2}id-3/)
  })

  test('catches up with more than a page without waiting in between', async () => {
    const here = await ownWorld()
    await importInference(here, 'support', 'first')
    const { screen, exit } = tail(here.address, '--interval', '1')
    await printed(screen, 1)
    // More pages than there are seconds to wait for them.
    for (const batch of ['a', 'b', 'c']) {
      const records = Array.from({ length: 1000 }, (_, at) => inference(`${batch}-${at}`))
      await here.post('/svc/records/batch', { records }, named('support'))
    }
    await printed(screen, 3001)
    screen.signal('SIGINT')
    expect(await exit).toBe(0)
  })

  test('as JSON is a line per record, with nothing a terminal acts on', async () => {
    const here = await ownWorld()
    await importInference(here, 'support', 'x\u009b2J')
    const { screen, exit } = tail(here.address, '--json')
    await printed(screen, 1)
    screen.signal('SIGTERM')
    expect(await exit).toBe(0)
    expect(JSON.parse(screen.printed[0] ?? '')).toMatchObject({ sequence: 1, agent_record_id: 'x\u009b2J' })
    expect(screen.printed[0]).not.toContain('\u009b')
  })

  test('waits for a service that is started again, and misses nothing', async () => {
    const place = await makePlace()
    const first = await place.start()
    const post = (id: string) =>
      send(first.address, 'POST', '/svc/records', {
        headers: { 'x-svc-scenario': 'support' },
        body: { agent_record_id: id, request_type: 'inference', payload: {} },
      })
    await post('before')
    const { screen, exit } = tail(first.address)
    await printed(screen, 1)
    await first.close()
    await vi.waitFor(() => expect(screen.complaints).toEqual(['the service does not answer; still trying']), { timeout: 20_000 })
    await place.start({ settings: { 'svc.port': Number(new URL(first.address).port) } })
    await post('after')
    await printed(screen, 2)
    screen.signal('SIGINT')
    expect(await exit).toBe(0)
    expect(screen.complaints.at(-1)).toBe('the service answers again')
    expect(screen.printed.map((line) => /before|after/.exec(line)?.[0])).toEqual(['before', 'after'])
  })

  test('ends when the scenario does', async () => {
    const here = await ownWorld()
    await importInference(here, 'support', 'only')
    const { screen, exit } = tail(here.address)
    await printed(screen, 1)
    await here.ask('DELETE', '/svc/scenarios/support')
    expect(await exit).toBe(1)
    expect(screen.complaints.join('')).toContain('does not exist')
  })

  test('ends at once also while no answer comes', async () => {
    const asked = Promise.withResolvers<void>()
    const server = createServer(() => asked.resolve())
    onTestFinished(() => closeServer(server))
    const { screen, exit } = tail(`http://127.0.0.1:${await listenOnLoopback(server)}`)
    await asked.promise
    screen.signal('SIGINT')
    expect(await exit).toBe(0)
  })
})
