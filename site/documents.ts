/** The documents: which there are, their groups in the order in which a stranger wants them, and what each says of itself. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** How the paths of a group begin. A page that no group names is a guide. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Start: ['docs/README.md', 'README.md', 'docs/quickstart.md', 'docs/session.md', 'docs/clients.md'],
  Guides: ['docs/guides/README.md', 'docs/guides/', 'docs/console.md', 'docs/harness.md', 'docs/wrapper.md', 'docs/evolution.md'],
  Reference: [
    'docs/interface.md',
    'docs/configuration.md',
    'docs/glossary.md',
    'docs/conformance.md',
    'docs/security.md',
    'docs/privacy.md',
    'docs/performance.md',
    'docs/learning.md',
    'docs/weights-measured.md',
  ],
  Extend: ['docs/extend/README.md', 'docs/extend/'],
  Project: ['ARCHITECTURE.md', 'docs/decisions/README.md', 'CONTRIBUTING.md', 'AGENTS.md', 'CHANGELOG.md'],
}

export interface DocumentGroup {
  readonly name: string
  /** Paths from the root of the repository. */
  readonly pages: readonly string[]
}

/** Every page but the decisions, which are reached from the page that lists them. */
export function documentGroups(root: string): readonly DocumentGroup[] {
  const pages = documentPages(root).filter((page) => !/^docs\/decisions\/\d/.test(page))
  const grouped = Map.groupBy(pages, groupOf)
  return Object.entries(GROUPS).map(([name, beginnings]) => ({ name, pages: inOrder(beginnings, grouped.get(name) ?? []) }))
}

/** A file may have any name; on every system its path is written with slashes here. */
export const documentPages = (root: string): readonly string[] =>
  globSync(['*.md', 'docs/**/*.md'], { cwd: root })
    .map((page) => page.replaceAll('\\', '/'))
    .toSorted()

function groupOf(page: string): string {
  const [group = 'Guides'] = Object.entries(GROUPS).find(([, beginnings]) => beginnings.some((each) => page.startsWith(each))) ?? []
  return group
}

function inOrder(beginnings: readonly string[], members: readonly string[]): readonly string[] {
  const placeOf = (page: string): number => {
    const place = beginnings.findIndex((each) => page.startsWith(each))
    return place === -1 ? beginnings.length : place
  }
  return members.toSorted((one, other) => placeOf(one) - placeOf(other))
}

export function titleOf(root: string, page: string): string {
  const [, title] = /^# (.+)$/m.exec(read(root, page)) ?? []
  if (title === undefined) throw new Error(`${page} has no title; begin it with one`)
  return title
}

/** The first one of its prose that is about its subject. */
export function sentenceOf(root: string, page: string): string {
  const blocks = read(root, page).split(/\n{2,}/)
  const prose = blocks.find((block) => /^[\p{L}`*[]/u.test(block) && !block.startsWith('This page is generated'))
  if (prose === undefined) throw new Error(`${page} says in no sentence what it is; begin it with one`)
  const text = prose.replaceAll('\n', ' ').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  const [first = text] = /^.*?[.?!](?=\s|$)/.exec(text) ?? []
  return first.replace(/:$/, '.')
}

const read = (root: string, page: string): string => readFileSync(join(root, page), 'utf8')
