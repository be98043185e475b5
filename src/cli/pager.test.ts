/** The pager: used for what does not fit, never in the way. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { page } from './pager.ts'

const LONG = Array.from({ length: 50 }, (_, at) => `line ${at}`).join('\n')

async function paged(
  text: string,
  rows: number,
  pager?: string,
): Promise<{ readonly printed: readonly string[]; readonly folder: string }> {
  const [printed, folder]: [string[], string] = [[], temporaryFolder()]
  const { PATH = '' } = process.env
  const environment = { PATH, OUT: join(folder, 'paged'), ...(pager !== undefined && { PAGER: pager }) }
  await page(text, { rows, environment, print: (line) => printed.push(line) })
  return { printed, folder }
}
const inPager = (folder: string): string | null => (existsSync(join(folder, 'paged')) ? readFileSync(join(folder, 'paged'), 'utf8') : null)

test('a text longer than the screen goes to the pager that the person named, with its options', async () => {
  const { printed, folder } = await paged(LONG, 24, 'cat - > "$OUT"')
  expect(printed).toEqual([])
  expect(inPager(folder)).toBe(`${LONG}\n`)
})

test.each([
  ['fits the screen', 'short', 24, 'cat - > "$OUT"'],
  ['is read by a program', LONG, 0, 'cat - > "$OUT"'],
  ['is read by a person who wants no pager', LONG, 24, ''],
])('a text that %s is printed', async (_why, text, rows, pager) => {
  const { printed, folder } = await paged(text, rows, pager)
  expect(printed).toEqual([text])
  expect(inPager(folder)).toBeNull()
})

test('a pager that cannot be started loses nothing', async () => {
  expect((await paged(LONG, 24, 'no-such-pager-anywhere')).printed).toEqual([LONG])
})

test('a person may leave before the end, however long the text is', async () => {
  const before = process.listenerCount('SIGINT')
  expect((await paged(LONG.repeat(20_000), 24, 'head -1 > "$OUT"')).printed).toEqual([])
  expect(process.listenerCount('SIGINT')).toBe(before)
})
