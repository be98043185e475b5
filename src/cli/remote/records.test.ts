/** What was stored: listed, read one by one, and written to a file. */
import { beforeAll, describe, expect, test } from 'vitest'
import { importInference, named } from '../../../test/spec/support/helpers.ts'
import { sharedWorld } from '../../../test/support/world.ts'
import { typeCommand } from '../testing/surroundings.ts'

const HOSTILE = 'clear\u001b[2J\u001b]52;c;cm0gLXJm\u0007\u202egnp.exe\u009b31m'
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const ACTED_ON = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/

const here = sharedWorld()
let receipt = ''
beforeAll(async () => {
  receipt = await here.exchange('support')
  await here.post('/svc/report', { score: 0.25, feedback: HOSTILE, references: [receipt] }, named('support'))
  for (let at = 3; at <= 130; at += 1) await importInference(here, 'support', `old-${at}`, { text: 'two\nlines' })
})

const type = (...args: readonly string[]) => typeCommand(here.address, args)

describe('the list', () => {
  test('is of the newest, twenty of them', async () => {
    const { exit, out } = await type('records')
    expect(exit).toBe(0)
    const lines = out.split('\n')
    expect(lines).toHaveLength(21)
    expect(lines[1]).toMatch(/^130 +old-130 +inference/)
  })

  test('is as long as asked for, over as many pages as that takes', async () => {
    const { out } = await type('records', 'support', '-n', '125')
    const lines = out.split('\n')
    expect(lines.slice(1).map((line) => Number.parseInt(line, 10))).toEqual(Array.from({ length: 125 }, (_, at) => 130 - at))
  })

  test('is of one kind where a kind is named, with what there is to know of it', async () => {
    expect((await type('records', '--type', 'report')).out).toMatch(/^2 +[0-9a-f]{32} +report +.* +0\.25 +1 record$/m)
    expect((await type('records', '-n', '200')).out).toMatch(new RegExp(`^ +1 +${receipt} +inference .* ms +m +1 → 1 +[0-9a-f]{8}$`, 'm'))
    expect((await type('records', '--type', 'train')).out).toBe('support holds no such record yet')
  })

  test('as JSON is one object', async () => {
    expect(JSON.parse((await type('records', '--type', 'report', '--json')).out)).toMatchObject({
      scenario: 'support',
      records: [{ sequence: 2, request_type: 'report', score: 0.25, references: [receipt] }],
    })
  })

  test.each([
    [['-n', '0'], /^option '-n, --number <count>' argument '0' is invalid\. It must be a whole number from 1\.$/],
    [['--type', 'letters'], /^option '--type <type>' argument 'letters' is invalid\. Allowed choices are inference, report, train\.$/],
    [['--export', 'f', '--id', 'x'], /cannot be used with/],
  ])('with %j is a misuse', async (args, line) => {
    expect(await type('records', ...args)).toMatchObject({ exit: 2, err: [expect.stringMatching(line)] })
  })
})

describe('one record', () => {
  test('is readable: what it is, then what was stored, long texts as lines', async () => {
    const { exit, out } = await type('records', 'support', '--id', 'old-3')
    expect(exit).toBe(0)
    expect(out).toMatch(/^record +old-3\nnumber +3\ntype +inference\nstored +\d{4}-/)
    expect(out).toContain('text: |-\n  two\n  lines')
  })

  test('that tries to take over the terminal is shown as text, whichever way it is asked for', async () => {
    const { out: list } = await type('records', '--type', 'report', '--json')
    const [, id = ''] = /"agent_record_id": "([^"]+)"/.exec(list) ?? []
    for (const more of [[], ['--json']]) {
      const { out } = await type('records', '--id', id, ...more)
      expect(out).toContain('gnp.exe')
      expect(out).not.toMatch(ACTED_ON)
    }
    expect(JSON.parse((await type('records', '--id', id, '--json')).out)).toMatchObject({ payload: { feedback: HOSTILE } })
  })

  test('whose very id is hostile does no harm in the list', async () => {
    await importInference(here, 'hostile', HOSTILE)
    for (const more of [[], ['--json'], ['--id', HOSTILE]]) expect((await type('records', 'hostile', ...more)).out).not.toMatch(ACTED_ON)
  })

  test('that is not there is one line with the next command', async () => {
    expect(await type('records', 'support', '--id', 'none')).toMatchObject({
      exit: 1,
      err: [expect.stringMatching(/no record of that id .*; see those that are: svc records support$/)],
    })
  })
})
