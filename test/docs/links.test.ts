/** The documents hang together: every link leads somewhere, and every page can be reached from the first one. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '..', '..')
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).sort()

const read = (page: string): string => readFileSync(join(root, page), 'utf8')

function linksOf(page: string) {
  const found = read(page).matchAll(/\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)/g)
  return [...found].map(([, path = '', heading = '']) => ({
    from: page,
    to: path === '' ? page : normalize(join(dirname(page), path)),
    heading,
  }))
}

function headingsOf(page: string): ReadonlySet<string> {
  const titles = [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => title.toLowerCase())
  return new Set(titles.map((title) => title.replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')))
}

const isThere = ({ to, heading }: ReturnType<typeof linksOf>[number]): boolean =>
  existsSync(join(root, to)) && (heading === '' || headingsOf(to).has(heading))

it('every link leads to a file, and to a heading of it where it names one', () => {
  const links = pages.flatMap(linksOf)
  expect(links.length).toBeGreaterThan(30)
  expect(links.filter((link) => !isThere(link))).toEqual([])
})

it('every page is reached from README.md', () => {
  const reached = new Set(['README.md'])
  for (const page of reached)
    for (const { to } of linksOf(page)) {
      const isFolder = existsSync(join(root, to)) && statSync(join(root, to)).isDirectory()
      const target = isFolder ? join(to, 'README.md') : to
      if (pages.includes(target)) reached.add(target)
    }
  expect(pages.filter((page) => !reached.has(page))).toEqual([])
})

it('what was decided, and when, is on the pages of decisions alone', () => {
  const users = pages.filter((page) => page.startsWith('docs/') && !page.startsWith('docs/decisions/'))
  const dated = users.filter((page) => /\bDecided\b|\(decided|\(2\d{3}-\d\d-\d\d\)/.test(read(page)))
  expect(dated).toEqual([])
})

function levelsOf(page: string): readonly number[] {
  const text = read(page).replaceAll(/^```.*?^```/gms, '')
  return [...text.matchAll(/^(#+) /gm)].map(([, marks = '']) => marks.length)
}

const skipsLevel = (page: string): boolean => levelsOf(page).some((level, at, all) => level > (all[at - 1] ?? 0) + 1)

it('headings go down one level at a time, as screen readers expect', () => {
  expect(pages.filter(skipsLevel)).toEqual([])
})
