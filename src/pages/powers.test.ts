/** What a change may do, on the pages of its version and of its request. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../contract/index.ts'
import { requestPage } from './request.ts'
import { tagsIn, textIn } from './testing/reading.ts'
import { requestView, ROWS, versionView } from './testing/views.ts'
import { versionPage } from './version.ts'
import type { PageRow } from './view.ts'

const [first, usual] = ROWS
if (first === undefined || usual === undefined) throw new Error('the rows of the tests are gone')
const rowWith = (metrics: JsonObject): PageRow => ({ ...usual, pending: true, result: 'pending', metrics })
const pageOf = (metrics: JsonObject): string => versionPage(versionView(1, { rows: [first, rowWith(metrics)] }))

const RUNS: JsonObject = {
  powers: ['words', 'runs'],
  held_powers: ['runs'],
  power_reasons: [{ power: 'runs', entry: 'helper', why: 'it holds code' }],
}

/** Without the marks of hidden characters. */
const marks = (tags: readonly string[]): readonly string[] => tags.filter((tag) => !/^\/?i /.test(tag))

describe('what a change may do', () => {
  it('stands on the page of the version, with the entry, why, and that a person has to allow it', () => {
    const text = textIn(pageOf(RUNS))
    expect(text).toContain('This change may run programs on your machine. needs a person helper it holds code')
    expect(text).toContain('The operator does not allow this without a person: runs.')
  })

  it('stands on the page of the request', () => {
    const row = rowWith(RUNS)
    expect(textIn(requestPage(requestView({ row, place: 1, rows: [first, row] })))).toContain(
      'This change may run programs on your machine.',
    )
  })

  it('is one line where it is only words, or not known', () => {
    expect(textIn(pageOf({ powers: ['words'] }))).toContain('What this change may do Only words: it is plain text for the model.')
    expect(textIn(pageOf({ mutations: [{ op: 'remove', id: 'x' }] }))).toContain('is not known')
    expect(textIn(pageOf({}))).not.toContain('What this change may do')
  })

  it.each([
    ['markup', '<img src=x onerror=alert(1)><script>alert(1)</script>'],
    ['an end of the row', '</script><b>'],
    ['quotes', '" onmouseover="x'],
    ['an entity', '&lt;b&gt;'],
    ['an override', '\u202egnp.exe'],
    ['an escape', '\u001b[2J\u009b31m'],
    ['tags', 'x\u{e0041}\u{e0042}'],
    ['half a surrogate pair', 'x\ud800'],
    ['a NUL', 'x\0y'],
  ])('shows a name and a reason of %s as text', (_, text) => {
    const page = pageOf({ powers: ['runs', text], held_powers: [text], power_reasons: [{ power: 'runs', entry: text, why: text }] })
    const plain = pageOf({ powers: ['runs', 'x'], held_powers: ['x'], power_reasons: [{ power: 'runs', entry: 'x', why: 'x' }] })
    expect(marks(tagsIn(page))).toEqual(marks(tagsIn(plain)))
    expect(page).not.toMatch(/[^\0-\x7f]/)
  })

  it('ten thousand entries make no large page', () => {
    const power_reasons = Array.from({ length: 10_000 }, (_, at) => ({ power: 'runs', entry: `${at}`.repeat(200), why: 'w'.repeat(900) }))
    const text = textIn(pageOf({ powers: ['runs'], power_reasons }))
    expect(text).toContain('and 9,995 more')
    expect(text.length).toBeLessThan(8000)
  })
})
