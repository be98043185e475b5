/** Looking at releases and records: listed, shown, compared, opened. */
import { beforeAll, describe, expect, test } from 'vitest'
import { named, textAt } from '../../../test/spec/support/helpers.ts'
import { trainee } from '../../../test/spec/support/trainee.ts'
import { sharedWorld } from '../../../test/support/world.ts'
import { runCli } from '../program.ts'
import { fakeSurroundings, HOLDING, typeCommand, type FakeTerminal } from '../testing/surroundings.ts'

const HOSTILE = 'Be brief.\nclear\u001b[2J\u202egnp.exe'
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const ACTED_ON = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/

const here = sharedWorld({ settings: HOLDING })
let receipt = ''
beforeAll(async () => {
  receipt = await here.exchange('support')
  await trainee(here, 'support').ask(HOSTILE)
  await trainee(here, 'support').row(1)
})
const type = (args: readonly string[], terminal?: FakeTerminal) => typeCommand(here.address, args, terminal)

test('scenarios are listed with how they are set, as JSON too', async () => {
  const { exit, out } = await type(['scenarios'])
  expect(exit).toBe(0)
  expect(out).toMatch(/^SCENARIO +SERVES +TRAINING +AGENT/)
  expect(out).toMatch(/^support +[0-9a-f]{8} +manual +pi/m)
  expect(JSON.parse((await type(['scenarios', '--json'])).out)).toMatchObject({ scenarios: [{ scenario: 'support' }] })
})

describe('a release is shown', () => {
  test('with its outcome, what was asked for, and what to type next, and nothing that a terminal acts on', async () => {
    const { exit, out } = await type(['show', 'v1'])
    expect(exit).toBe(0)
    expect(out).toMatch(/^v1 Held, .*, release [0-9a-f]{8}\n/)
    expect(out).toContain('Asked for by a person. A person asked for this: Be brief.')
    expect(out).toContain('clear[U+001B][2J[U+202E]gnp.exe')
    expect(out).toContain('serve it: svc promote v1 --scenario support')
    expect(out).toContain('turn it down: svc reject v1 --scenario support --reason "…"')
    expect(out).toContain('files: svc diff v1 --scenario support')
    expect(out).not.toMatch(ACTED_ON)
  })

  test.each([['step', '1'], ['1']])('however it is named: %j', async (...words) => {
    expect((await type(['show', ...words])).out).toMatch(/^v1 Held/)
  })

  test('by the beginning of its id, and as JSON', async () => {
    const release_id = textAt(await trainee(here, 'support').release(), 'release_id')
    expect((await type(['show', release_id.slice(0, 12)])).out).toMatch(/^v1 Held/)
    expect(JSON.parse((await type(['show', 'v1', '--json'])).out)).toMatchObject({ step: 1, release_id })
  })

  test('or not, with what to do', async () => {
    expect(await type(['show', 'v9'])).toMatchObject({ exit: 1, err: ['no release is called v9; see them: svc releases support'] })
    expect(await type(['show', 'nothing-of-that-id'])).toMatchObject({ exit: 1, err: [expect.stringContaining('svc releases support')] })
  })
})

test('a record is shown by its receipt', async () => {
  const { exit, out } = await type(['show', receipt])
  expect(exit).toBe(0)
  expect(out).toContain(receipt)
  expect(out).toMatch(/^type +inference$/m)
  expect(JSON.parse((await type(['show', receipt, '--json'])).out)).toMatchObject({ agent_record_id: receipt })
})

describe('files are compared', () => {
  test('of what waits with what is served, without a name', async () => {
    const { exit, out } = await type(['diff'])
    expect(exit).toBe(0)
    expect(out).toMatch(/^support: v0 [0-9a-f]{8} → v1 [0-9a-f]{8}, \d+ files? (added|changed)/)
    expect(out).toContain('+ Be brief.')
    expect(out).toContain('+ clear[U+001B][2J[U+202E]gnp.exe')
    expect(out).not.toMatch(ACTED_ON)
  })

  test('of a release with its parent, and of two releases in the order named', async () => {
    expect((await type(['diff', 'v1'])).out).toBe((await type(['diff'])).out)
    expect((await type(['diff', 'v1', 'v0'])).out).toContain('- Be brief.')
    expect((await type(['diff', 'v0', 'v0'])).out).toMatch(/no file differs$/)
  })

  test('in colours where they are wanted, and as JSON whole', async () => {
    expect((await type(['diff'], { width: 60, colours: true })).out).toContain('\u001b[32m+ Be brief.\u001b[0m')
    const { files, to } = JSON.parse((await type(['diff', '--json'])).out)
    expect(to).toMatch(/^[0-9a-f]{40}$/)
    expect(files).toEqual(expect.arrayContaining([expect.objectContaining({ after: expect.stringContaining('Be brief.') })]))
  })

  test('or the command says which releases there are', async () => {
    expect(await type(['diff', 'v0', 'v7'])).toMatchObject({ exit: 1, err: ['no release is called v7; see them: svc releases support'] })
  })
})

const opened = async (args: readonly string[], terminal?: FakeTerminal) => {
  const screen = fakeSurroundings({}, { SVC_URL: here.address }, terminal)
  const exit = await runCli(['open', ...args], screen)
  return { exit, out: screen.printed.join('\n'), err: screen.complaints, opened: screen.opened }
}

describe('open', () => {
  test.each<readonly [readonly string[], string]>([
    [[], '/console'],
    [['storage'], '/console#/storage'],
    [['support'], '/console#/s/support/traffic'],
    [['tasks'], '/console#/s/support/tasks'],
    [['--scenario', 'support'], '/console#/s/support/traffic'],
  ])('%j leads to %s', async (args, path) => {
    expect(await opened(args, { hasBrowser: true })).toEqual({ exit: 0, out: here.address + path, err: [], opened: [here.address + path] })
  })

  test('leads to a record, and to the page of a release', async () => {
    expect((await opened([receipt])).out).toBe(`${here.address}/console#/s/support/traffic/${receipt}`)
    const { out } = await opened(['v1'])
    expect(out).toMatch(/\/svc\/harness\/releases\/1\/page/)
    expect((await fetch(out, { headers: named('support') })).status).toBe(200)
  })

  test('says so where there is no browser, and prints the address alone for programs', async () => {
    expect(await opened([], {})).toMatchObject({ exit: 0, err: ['no browser was found here; open the address elsewhere'] })
    expect(JSON.parse((await opened(['--json'])).out)).toEqual({ url: `${here.address}/console` })
    expect((await opened(['v9'])).err).toEqual(['no release is called v9; see them: svc releases support'])
  })
})
