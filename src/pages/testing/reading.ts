/** Reads pages back, for the tests. */
import type { JsonObject } from '../../contract/index.ts'

export const cardsIn = (page: string): readonly string[] => [...page.matchAll(/<h2>([^<]*)<\/h2>/g)].map(([, title = '']) => title)

/** Where links lead; the way past the header is none. */
export const linksIn = (page: string): readonly string[] =>
  [...page.matchAll(/href="([^"]*)"/g)].map(([, link = '']) => plain(link)).filter((link) => link !== '#main')

/** The row at the end. */
export function rowIn(page: string): JsonObject {
  const [, json = ''] = /<script type="application\/json" id="row">(.*)<\/script>/s.exec(page) ?? []
  const row: JsonObject = JSON.parse(json)
  return row
}

/** What a person reads, in one line. */
export function textIn(page: string): string {
  const body = page.slice(page.indexOf('<body'), page.includes('<script') ? page.indexOf('<script') : undefined)
  return plain(body.replaceAll(/<[^>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim()
}

/** Every tag with the names of its attributes, in order. */
export const tagsIn = (page: string): readonly string[] =>
  [...page.matchAll(/<(\/?[a-z][\w-]*)((?:\s+[\w-]+(?:="[^"]*")?)*)\s*\/?>/gi)].map(
    ([, name = '', attributes = '']) =>
      `${name} ${[...attributes.matchAll(/([\w-]+)(?:="[^"]*")?/g)].map(([, attribute = '']) => attribute).join(' ')}`,
  )

const plain = (markup: string): string => markup.replaceAll(/&#(\d+);/g, (_, point: string) => String.fromCodePoint(Number(point)))
