/** Where the files of the repository are on the site. Addresses are relative, so that the site works in any folder and without a server. */
import { posix } from 'node:path'

const DOCUMENTS = 'docs/'
/** What is not a document lies below this folder. */
const OTHERS = 'source/'
const PICTURE = /\.(?:svg|png|webp)$/

export const isPicture = (path: string): boolean => PICTURE.test(path)

/** The file on the site: `docs/guides/README.md` is `guides/index.html`. */
export function sitePath(path: string): string {
  const place = path.startsWith(DOCUMENTS) ? path.slice(DOCUMENTS.length) : OTHERS + path
  if (isPicture(path)) return place
  if (!path.endsWith('.md')) return `${place}.html`
  return place.startsWith(OTHERS)
    ? place.replace(/\.md$/, '.html')
    : place.replace(/(^|\/)README\.md$/, '$1index.md').replace(/\.md$/, '.html')
}

/** From one file of the site to another, as a browser reads it: a name may hold any character. */
export const hrefBetween = (from: string, to: string): string => addressOf(posix.relative(posix.dirname(from), to))

export const addressOf = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/** What leads from a file of the site to its root: empty, or `../` for each folder. */
export const rootFrom = (path: string): string => '../'.repeat(path.split('/').length - 1)
