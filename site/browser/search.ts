/** Finds sections of the documents by words. Runs in the browser, over the index that the build made. */
import { searchWords } from '../../src/kit/search-words.ts'

/** A page, and its sections in order. The first has no heading of its own: it is what stands under the title. */
export interface IndexedPage {
  readonly title: string
  readonly address: string
  readonly sections: readonly IndexedSection[]
}

interface IndexedSection {
  /** Empty for the first one. */
  readonly heading: string
  readonly anchor: string
  readonly text: string
}

export interface Hit {
  readonly title: string
  readonly heading: string
  /** From the root of the site, with the section. */
  readonly address: string
  /** What stands around the first word that was found. */
  readonly excerpt: string
}

const HITS_MAX = 20
const TITLE_WEIGHT = 12
const HEADING_WEIGHT = 6
const WHOLE_WORD_WEIGHT = 2
/** A word that occurs often says little more than one that occurs three times. */
const COUNT_MAX = 3
const EXCERPT_BEFORE = 40
const EXCERPT_CHARACTERS = 160

/** Every word must occur in a section, its heading or its page's title; the last one may go on. Best first, then in the order of the index. */
export function findSections(pages: readonly IndexedPage[], question: string): readonly Hit[] {
  const wanted = searchWords(question)
  if (wanted.length === 0) return []
  const found = pages.flatMap((page) => page.sections.map((section) => ({ page, section, score: scoreOf(page, section, wanted) })))
  return found
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, HITS_MAX)
    .map(({ page, section }) => ({
      title: page.title,
      heading: section.heading,
      address: section.anchor === '' ? page.address : `${page.address}#${section.anchor}`,
      excerpt: excerptOf(section.text, wanted),
    }))
}

function scoreOf({ title }: IndexedPage, { heading, text }: IndexedSection, wanted: readonly string[]): number {
  const places = [
    { words: searchWords(title), weight: heading === '' ? TITLE_WEIGHT : 1 },
    { words: searchWords(heading), weight: HEADING_WEIGHT },
    { words: searchWords(text), weight: 1 },
  ]
  let score = 0
  for (const [at, word] of wanted.entries()) {
    const mayGoOn = at === wanted.length - 1
    const points = places.reduce((sum, { words, weight }) => sum + weight * pointsOf(words, word, mayGoOn), 0)
    if (points === 0) return 0
    score += points
  }
  return score
}

function pointsOf(words: readonly string[], wanted: string, mayGoOn: boolean): number {
  let points = 0
  for (const word of words) {
    if (word === wanted) points += WHOLE_WORD_WEIGHT
    else if (mayGoOn && word.startsWith(wanted)) points += 1
  }
  return Math.min(points, COUNT_MAX)
}

function excerptOf(text: string, wanted: readonly string[]): string {
  const plain = text.toLowerCase()
  const places = wanted.map((word) => plain.indexOf(word)).filter((place) => place !== -1)
  const first = places.length === 0 ? 0 : Math.min(...places)
  const begin = first <= EXCERPT_BEFORE ? 0 : text.indexOf(' ', first - EXCERPT_BEFORE) + 1
  const rest = text.slice(begin)
  if (rest.length <= EXCERPT_CHARACTERS) return `${begin > 0 ? '… ' : ''}${rest}`
  const cut = rest.slice(0, EXCERPT_CHARACTERS)
  return `${begin > 0 ? '… ' : ''}${cut.slice(0, Math.max(cut.lastIndexOf(' '), 0)) || cut} …`
}
