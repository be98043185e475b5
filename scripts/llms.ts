/** llms.txt: the documents on one page, for people who read with a model. Titles and sentences are the documents' own. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const LLMS_PAGE = 'llms.txt'

const root = join(import.meta.dirname, '..')

/** How the paths of a group begin, in the order in which a stranger wants them. A page that no group names is a guide. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Start: ['README.md', 'docs/quickstart.md', 'docs/clients.md'],
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
  ],
  Extend: ['docs/extend/README.md', 'docs/extend/'],
  Project: ['ARCHITECTURE.md', 'docs/decisions/README.md', 'CONTRIBUTING.md', 'AGENTS.md', 'CHANGELOG.md'],
}

const NOTES = [
  'Clients keep their SDK, change the base address, and send one more header: `x-svc-scenario`, the workload a request belongs to.',
  'A running service describes every route, body, answer and refusal at `/openapi.json` (OpenAPI 3.1), behind the same token as the rest.',
  '`npm start` serves on `http://127.0.0.1:8900`, with a built-in mock model when no upstream is found.',
]

export function llmsPage(): string {
  const grouped = Map.groupBy(pages(), groupOf)
  const sections = Object.entries(GROUPS).map(([group, beginnings]) =>
    [`## ${group}`, '', ...inOrder(beginnings, grouped.get(group) ?? []).map(lineOf)].join('\n'),
  )
  const head = [`# ${titleOf('README.md')}`, `> ${sentenceOf('README.md')}`, NOTES.map((note) => `- ${note}`).join('\n')]
  return `${[...head, ...sections].join('\n\n')}\n`
}

/** Every page there is. Decisions are reached from the page that lists them. */
function pages(): readonly string[] {
  return globSync(['*.md', 'docs/**/*.md'], { cwd: root }).filter((page) => !/^docs\/decisions\/\d/.test(page))
}

function groupOf(page: string): string {
  const [group = 'Guides'] = Object.entries(GROUPS).find(([, beginnings]) => beginnings.some((each) => page.startsWith(each))) ?? []
  return group
}

function inOrder(beginnings: readonly string[], members: readonly string[]): readonly string[] {
  const placeOf = (page: string): number => {
    const place = beginnings.findIndex((each) => page.startsWith(each))
    return place === -1 ? beginnings.length : place
  }
  return members.toSorted().toSorted((one, other) => placeOf(one) - placeOf(other))
}

const lineOf = (page: string): string => `- [${titleOf(page)}](${page}): ${sentenceOf(page)}`

const read = (page: string): string => readFileSync(join(root, page), 'utf8')

function titleOf(page: string): string {
  const [, title] = /^# (.+)$/m.exec(read(page)) ?? []
  if (title === undefined) throw new Error(`${page} has no title; begin it with one`)
  return title
}

/** The first one of its prose that is about its subject. */
function sentenceOf(page: string): string {
  const blocks = read(page).split(/\n{2,}/)
  const prose = blocks.find((block) => /^[\p{L}`*[]/u.test(block) && !block.startsWith('This page is generated'))
  if (prose === undefined) throw new Error(`${page} says in no sentence what it is; begin it with one`)
  const text = prose.replaceAll('\n', ' ').replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  const [first = text] = /^.*?[.?!](?=\s|$)/.exec(text) ?? []
  return first.replace(/:$/, '.')
}
