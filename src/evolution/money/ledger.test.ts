/** What was spent, by day and step: after a crash, beside another trainer, and on a disk that takes nothing. */
import { appendFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { DOCUMENT_BYTES_MAX, documentTooLarge } from '../../contract/index.ts'
import { FolderDocuments } from '../../kit/index.ts'
import { Ledger } from './ledger.ts'
import { NOTHING_SPENT, pricesOf, spentBy, spentJson } from './spent.ts'

const NOON = Date.UTC(2026, 4, 4, 12)
const DAY = 24 * 60 * 60 * 1000
const SPENT = { calls: 1, inputTokens: 10, cachedTokens: 4, outputTokens: 2, cost: 0.5, unpricedCalls: 0 }

/** The ledger is a folder of them. */
const documentsOf = (spending: string): FolderDocuments => new FolderDocuments(dirname(spending))

it('is the same for a second trainer of the scenario, and after the process was killed', async () => {
  const folder = join(temporaryFolder(), 'spending')
  const [one, other] = [new Ledger(documentsOf(folder), 'a'), new Ledger(documentsOf(folder), 'b')]
  one.spend(NOON, 3, 'episode', SPENT)
  other.spend(NOON, 4, 'model', SPENT)
  one.episodeEnded(NOON, 3, 7)
  await one.settle(NOON)
  await other.settle(NOON)
  await one.settle(NOON)
  for (const ledger of [one, other]) expect(ledger.today(NOON)).toMatchObject({ calls: 2, inputTokens: 20, cost: 1 })
  expect(one.ofStep(3)).toEqual({ episode: SPENT, model: NOTHING_SPENT })
  expect(one.ofStep(4).model).toEqual(NOTHING_SPENT)
  const next = new Ledger(documentsOf(folder), 'a')
  await next.settle(NOON)
  expect(next.today(NOON)).toEqual(one.today(NOON))
  expect(next.episodes).toMatchObject({ ended: 1, seconds: 7, spent: SPENT })
})

it('counts each call once, however many episodes ask at the same time', async () => {
  const ledger = new Ledger(documentsOf(join(temporaryFolder(), 'spending')), '')
  for (let call = 0; call < 5; call += 1) ledger.spend(NOON, 1, 'episode', SPENT)
  await Promise.all(Array.from({ length: 8 }, () => ledger.settle(NOON)))
  expect(ledger.today(NOON)).toMatchObject({ calls: 5, inputTokens: 50 })
})

it('loses nothing beside a line that a crash cut short', async () => {
  const folder = join(temporaryFolder(), 'spending')
  const ledger = new Ledger(documentsOf(folder), '')
  ledger.spend(NOON, 1, 'episode', SPENT)
  await ledger.settle(NOON)
  appendFileSync(join(folder, '2026-05-04.jsonl'), '\n["",1,"episode",1,99')
  const next = new Ledger(documentsOf(folder), '')
  await next.settle(NOON)
  next.spend(NOON, 1, 'episode', SPENT)
  await next.settle(NOON)
  expect(next.ofStep(1).episode).toMatchObject({ calls: 2, inputTokens: 20 })
})

it('goes on in another file where a day is longer than a document may be, for every trainer', async () => {
  const folder = join(temporaryFolder(), 'spending')
  const documents = new BoundedDocuments(dirname(folder))
  const line = `\n${JSON.stringify(['c'.repeat(100_000), 1, 'episode', 1, 10, 4, 2, 0.5, 0])}\n`
  const lines = Math.floor(DOCUMENT_BYTES_MAX / line.length)
  const [one, late] = [new Ledger(documents, 'a'), new Ledger(documents, 'b')]
  await documents.append('spending/2026-05-04.jsonl', line)
  await late.settle(NOON)
  // Steps of a busy day, up to where nothing more goes into the document.
  writeFileSync(join(folder, '2026-05-04.jsonl'), line.repeat(lines - 2))
  late.spend(NOON, 2, 'episode', SPENT)
  await late.settle(NOON)
  await one.settle(NOON)
  for (const _ of ['first', 'second']) {
    one.spend(NOON, 3, 'episode', SPENT)
    late.spend(NOON, 3, 'episode', SPENT)
    await one.settle(NOON)
    await late.settle(NOON)
  }
  await one.settle(NOON)
  const next = new Ledger(documents, 'a')
  await next.settle(NOON)
  for (const ledger of [one, late, next]) expect(ledger.today(NOON).calls).toBe(lines + 3)
  expect(readdirSync(folder).toSorted()).toEqual(['2026-05-04.1.jsonl', '2026-05-04.jsonl'])
  await spendForAWeek(next)
  await next.tidy(NOON + 8 * DAY)
  expect(readdirSync(folder).filter((name) => name.startsWith('2026-05-04'))).toEqual([])
})

/** After the first day. */
async function spendForAWeek(ledger: Ledger): Promise<void> {
  for (let day = 1; day <= 7; day += 1) ledger.spend(NOON + day * DAY, 9, 'episode', SPENT)
  await ledger.settle(NOON + 7 * DAY)
}

/** Bounded as those of a database are. */
class BoundedDocuments extends FolderDocuments {
  override async append(path: string, text: string): Promise<void> {
    const before = (await this.read(path))?.length ?? 0
    if (before + Buffer.byteLength(text) > DOCUMENT_BYTES_MAX) throw documentTooLarge(path, DOCUMENT_BYTES_MAX)
    await super.append(path, text)
  }
}

it('counts a day by itself, a step over midnight whole, and removes what is a week old', async () => {
  const folder = join(temporaryFolder(), 'spending')
  const ledger = new Ledger(documentsOf(folder), '')
  ledger.spend(NOON, 1, 'episode', SPENT)
  ledger.spend(NOON + DAY, 1, 'episode', SPENT)
  await ledger.settle(NOON + DAY)
  expect(ledger.today(NOON + DAY).calls).toBe(1)
  expect(ledger.ofStep(1).episode.calls).toBe(2)
  expect(ledger.after(0)).toMatchObject({ steps: 1, spent: { calls: 2 } })
  writeFileSync(join(folder, 'of-a-person.txt'), '')
  await spendForAWeek(ledger)
  await ledger.tidy(NOON + 8 * DAY)
  expect(readdirSync(folder).toSorted()).toEqual([...[5, 6, 7, 8, 9, 10, 11].map((day) => fileOf(day)), 'of-a-person.txt'])
})

it('a call counts for the day on which it was held, so that those of two days never fill one', async () => {
  const documents = documentsOf(join(temporaryFolder(), 'spending'))
  const ledger = new Ledger(documents, '')
  const [late, early] = [await ledger.hold(NOON, 1, 'episode', SPENT), await ledger.hold(NOON + DAY, 1, 'episode', SPENT)]
  for (const id of [late, early]) ledger.spend(NOON + DAY, 1, 'episode', SPENT, id)
  for (const each of [ledger, new Ledger(documents, '')]) {
    await each.settle(NOON + DAY)
    expect(each.taken(NOON + DAY, 1)).toMatchObject({ day: { calls: 1 }, step: { calls: 2 } })
  }
})

const fileOf = (day: number): string => `2026-05-${String(day).padStart(2, '0')}.jsonl`

it.each([3, 30])('a clock that is %i days ahead for a while takes nothing away of what was spent today', async (days) => {
  const folder = join(temporaryFolder(), 'spending')
  const ledger = new Ledger(documentsOf(folder), '')
  ledger.spend(NOON, 1, 'episode', SPENT)
  await ledger.settle(NOON)
  await ledger.tidy(NOON + days * DAY)
  await ledger.settle(NOON + days * DAY)
  expect(ledger.today(NOON + days * DAY).calls).toBe(0)
  await ledger.tidy(NOON)
  const next = new Ledger(documentsOf(folder), '')
  next.spend(NOON, 1, 'episode', SPENT)
  for (const each of [next, ledger]) {
    await each.settle(NOON)
    expect(each.today(NOON).calls).toBe(2)
  }
})

it('what was spent while the clock was ahead counts today, and no longer once that day is over', async () => {
  const folder = join(temporaryFolder(), 'spending')
  const ledger = new Ledger(documentsOf(folder), '')
  ledger.spend(NOON, 1, 'episode', SPENT)
  ledger.spend(NOON + 2 * DAY, 1, 'episode', SPENT)
  await ledger.hold(NOON + 2 * DAY, 1, 'episode', SPENT)
  const next = new Ledger(documentsOf(folder), '')
  for (const each of [ledger, next]) {
    await each.settle(NOON)
    expect(each.taken(NOON, 1)).toMatchObject({ day: { calls: 3 }, step: { calls: 3 } })
    await each.settle(NOON + DAY)
    expect(each.taken(NOON + DAY, 1)).toMatchObject({ day: { calls: 2 }, step: { calls: 3 } })
    await each.settle(NOON + 3 * DAY)
    expect(each.taken(NOON + 3 * DAY, 1)).toMatchObject({ day: { calls: 0 }, step: { calls: 3 } })
  }
})

it('a clock that is set back does not open the day again that was spent', async () => {
  const folder = join(temporaryFolder(), 'spending')
  const ledger = new Ledger(documentsOf(folder), '')
  ledger.spend(NOON, 1, 'episode', SPENT)
  await ledger.settle(NOON)
  const next = new Ledger(documentsOf(folder), '')
  for (const each of [ledger, next]) {
    await each.tidy(NOON - 3 * DAY)
    await each.settle(NOON - 3 * DAY)
    expect(each.certain(NOON - 3 * DAY, 1).day.calls).toBe(1)
    await each.settle(NOON)
    expect(each.today(NOON).calls).toBe(1)
  }
})

it('a file that was removed and begun anew is read from its beginning, and what is known of it is kept', async () => {
  const folder = join(temporaryFolder(), 'spending')
  const [ledger, other] = [new Ledger(documentsOf(folder), 'a'), new Ledger(documentsOf(folder), 'b')]
  for (let call = 0; call < 3; call += 1) ledger.spend(NOON, 1, 'episode', SPENT)
  await ledger.settle(NOON)
  rmSync(join(folder, fileOf(4)))
  other.spend(NOON, 1, 'episode', SPENT)
  await other.settle(NOON)
  for (const _ of ['first', 'second']) {
    await ledger.settle(NOON)
    expect(ledger.today(NOON).calls).toBe(4)
  }
  // As long as what was read of the one before.
  rmSync(join(folder, fileOf(4)))
  for (let call = 0; call < 7; call += 1) other.spend(NOON, 1, 'episode', { ...SPENT, inputTokens: 1234 })
  await other.written()
  await ledger.settle(NOON)
  expect(ledger.today(NOON).calls).toBe(11)
})

it('says that the disk took nothing, keeps it, and writes it once it can', async () => {
  const parent = temporaryFolder()
  const folder = join(parent, 'spending')
  writeFileSync(folder, 'in the way')
  const ledger = new Ledger(documentsOf(folder), '')
  ledger.spend(NOON, 1, 'episode', SPENT)
  await expect(ledger.settle(NOON)).rejects.toThrow(/EEXIST|ENOTDIR/)
  await expect(ledger.settle(NOON)).rejects.toThrow(/EEXIST|ENOTDIR/)
  rmSync(folder)
  await ledger.settle(NOON)
  expect(ledger.ofStep(1).episode.calls).toBe(1)
})

it('prices by name, by a star, by the prices of the sandbox, and never as 0', () => {
  const prices = { m: { input: 1, output: 10, cached: 0.1 }, '*': { input: 2, output: 2, cached: null } }
  const call = { input: 1_000_000, cached: 500_000, output: 100_000, model: 'm', isAnswered: true }
  expect(spentBy(call, pricesOf({ prices, sandbox: {} }, 'm')).cost).toBeCloseTo(0.5 + 0.05 + 1)
  expect(pricesOf({ prices, sandbox: {} }, 'other')).toEqual({ input: 2, output: 2, cached: 2 })
  expect(pricesOf({ prices: {}, sandbox: { input_price: 3, output_price: 4 } }, 'm')).toEqual({ input: 3, output: 4, cached: 3 })
  expect(pricesOf({ prices: {}, sandbox: {} }, 'constructor')).toBeNull()
  expect(spentJson(spentBy(call, null))).toMatchObject({ calls: 1, cost: null, unpriced_calls: 1 })
  expect(spentJson(NOTHING_SPENT)).toMatchObject({ cost: 0 })
})
