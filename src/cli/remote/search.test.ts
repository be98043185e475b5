/** `svc search`, and the first words in the lists. */
import { beforeAll, describe, expect, test } from 'vitest'
import { importInference, named } from '../../../test/spec/support/helpers.ts'
import { sharedWorld } from '../../../test/support/world.ts'
import { typeCommand } from '../testing/surroundings.ts'

const HOSTILE = 'clear\u001b[2J\u001b]52;c;cm0gLXJm\u0007\u202egnp.exe\u009b31m'
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const ACTED_ON = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/

const asked = (content: string) => ({ messages: [{ role: 'user', content }], metadata: { tags: { user: 'ann' } } })

const here = sharedWorld()
beforeAll(async () => {
  for (let at = 1; at <= 130; at += 1) await importInference(here, 'support', `r-${at}`, asked(at === 7 ? `refund ${HOSTILE}` : 'parcel'))
  await here.post('/svc/report', { score: 0.25, references: ['r-7'], feedback: 'wrong' }, named('support'))
})

const type = (...args: readonly string[]) => typeCommand(here.address, args)
const numbers = (out: string): readonly number[] =>
  out
    .split('\n')
    .slice(1)
    .map((line) => Number.parseInt(line, 10))

describe('a search', () => {
  test('lists what was found with its first words, score and tags, and does no harm', async () => {
    const { exit, out } = await type('search', 'refund', 'clear*')
    expect(exit).toBe(0)
    expect(numbers(out)).toEqual([7])
    expect(out).toMatch(/ r-7 +inference .* refund clear.* 0\.25 .*user:ann$/m)
    expect(out).not.toMatch(ACTED_ON)
  })

  test('goes over as many pages as it takes', async () => {
    expect(numbers((await type('search', 'parcel', '-n', '110')).out)).toHaveLength(110)
    expect(numbers((await type('search', 'parcel')).out)).toHaveLength(20)
  })

  test.each([
    [['--max-score', '0.3', '--type', 'inference'], [7]],
    [['parcel -refund', '--tag', 'user:ann', '--model', 'm', '-n', '1', '--since', '1h'], [130]],
    [['--until', '2020-01-01'], []],
    [['--status', 'broken-off'], []],
  ])('with %j is narrowed', async (args, found) => {
    const { exit, out } = await type('search', ...args)
    expect(exit).toBe(0)
    expect(numbers(out)).toEqual(found)
  })

  test('as JSON is one object', async () => {
    expect(JSON.parse((await type('search', 'refund', '--json')).out)).toMatchObject({
      scenario: 'support',
      waiting: 0,
      records: [{ sequence: 7, excerpt: { score: 0.25, tags: { user: 'ann' } } }],
    })
  })

  test('without a find is one line', async () => {
    expect(await type('search', 'nothing')).toMatchObject({ exit: 0, out: 'nothing was found in support' })
  })

  test.each([
    [['--since', 'long ago'], /It must be a time ago, such as 12h or 7d, or a date\.$/],
    [['--min-score', 'high'], /It must be a number\.$/],
    [['--tag', 'user'], / 400: tag: must be a name and a value/],
    [['--release', 'v99'], /^no release is called v99; see them: svc releases support$/],
  ])('with %j is a misuse', async (args, line) => {
    const { exit, err } = await type('search', ...args)
    expect(exit).not.toBe(0)
    expect(err).toEqual([expect.stringMatching(line)])
  })
})

describe('the list of records', () => {
  test('has the first words too, and a record opens by its number', async () => {
    expect((await type('records', '-n', '2')).out).toMatch(/^130 +r-130 +inference .* parcel /m)
    expect((await type('records', '--id', '7')).out).toMatch(/^record +r-7$/m)
    expect((await type('records', '--id', '9999')).err).toEqual([expect.stringMatching(/ 404: no record of that id/)])
  })

  test('keeps the words where the terminal is narrow', async () => {
    const { out } = await typeCommand(here.address, ['records', '-n', '1'], { width: 80 })
    expect(out).toMatch(/^131 .*wrong/m)
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  })
})
