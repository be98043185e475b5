import { describe, expect, it } from 'vitest'
import { findSections, type IndexedPage } from './search.ts'

const section = (heading: string, text: string) => ({ heading, anchor: heading.toLowerCase(), text })
const PAGES: readonly IndexedPage[] = [
  {
    title: 'Running it',
    address: 'operations.html',
    sections: [section('', 'How to run it.'), section('Backup', 'Copy the folder of the records.')],
  },
  { title: 'Backup plans', address: 'plans.html', sections: [section('', 'Nothing to see.')] },
  { title: 'Glossary', address: 'glossary.html', sections: [section('', `${'Many words. '.repeat(40)}A Bäckup of records is a copy.`)] },
]
const found = (question: string) => findSections(PAGES, question).map(({ address }) => address)

describe('a search of the documents', () => {
  it('puts titles before headings, and headings before text', () => {
    expect(found('backup')).toEqual(['plans.html', 'operations.html#backup', 'glossary.html'])
  })

  it('needs every word, wherever in a section it stands, and takes the last one as a beginning', () => {
    expect(found('records backup')).toEqual(['operations.html#backup', 'glossary.html'])
    expect(found('backup rec')).toEqual(['operations.html#backup', 'glossary.html'])
    expect(found('rec backup')).toEqual([])
  })

  it('shows what stands around the first word', () => {
    const [hit] = findSections(PAGES, 'copy is')
    expect(hit?.excerpt).toMatch(/^… .*is a copy\.$/)
    expect(hit?.excerpt.length).toBeLessThan(200)
  })

  it.each(['', '   ', '?!', '<script>', '__proto__', 'x'.repeat(10_000)])('finds nothing for %j', (question) => {
    expect(found(question)).toEqual([])
  })
})
