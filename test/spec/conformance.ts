/** Maps rules to the tests that hold them, by the rule ids in brackets in test titles. */
import { globSync, readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { LONG_FORM_FILES } from '../long-form.ts'
import { rules, type Rule } from './rules.ts'

export const CONFORMANCE_PAGE = 'docs/conformance.md'

export interface Holder {
  readonly file: string
  readonly title: string
}

const TEST_FILES = ['src/**/*.test.ts', 'plugins/**/*.test.ts', 'test/**/*.test.ts', '{client,agent,native}/**/*.test.ts']
const LITERAL = /(['"`])((?:\\.|(?!\1)[^\\\n])*)\1/g
const TAG = /\[([a-z]+(?:\.[a-z0-9-]+)+)\]/g

/** Rule ids to the tests whose titles name them. A bracket with a dot in it counts as a tag when its first word opens some rule's id. */
export function findHolders(): ReadonlyMap<string, readonly Holder[]> {
  const holders = new Map<string, Holder[]>()
  const files = globSync(TEST_FILES, { exclude: (path) => /node_modules|dist$/.test(path) }).sort()
  for (const file of files)
    for (const [, , literal = ''] of readFileSync(file, 'utf8').matchAll(LITERAL))
      for (const id of tagsIn(literal)) holders.set(id, [...(holders.get(id) ?? []), { file, title: titleOf(literal) }])
  return holders
}

const families = new Set(rules.map(({ id }) => familyOf(id)))

function familyOf(id: string): string {
  return id.slice(0, id.indexOf('.'))
}

function tagsIn(literal: string): readonly string[] {
  return [...literal.matchAll(TAG)].flatMap(([, id = '']) => (families.has(familyOf(id)) ? [id] : []))
}

/** Without tags, and with … for placeholders. */
function titleOf(literal: string): string {
  return literal
    .replaceAll(TAG, '')
    .replaceAll(/%[sdifjo]|\$\{[^}]*\}|\$[a-zA-Z][\w.]*/g, '…')
    .replaceAll(/\\(.)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

export function conformancePage(): string {
  const holders = findHolders()
  const sections = [...Map.groupBy(rules, (rule) => rule.section)]
  const lines = [
    '# Conformance',
    '',
    'Every rule of the interface and the tests that hold it. Written by `npm run docs`; the table of rules is `test/spec/rules.ts`.',
    '',
    `${rules.length} rules. Tests marked "long form" are run by \`npm run test:machine\`, and not by \`.ci/run\`, which has its short form.`,
    ...sections.flatMap(([title, members]) => ['', `## ${title}`, '', ...members.flatMap((rule) => entryOf(rule, holders))]),
  ]
  return `${lines.join('\n')}\n`
}

function entryOf(rule: Rule, holders: ReadonlyMap<string, readonly Holder[]>): readonly string[] {
  const head = `- \`${rule.id}\`: ${plain(rule.rule)}`
  return [
    head,
    ...(holders.get(rule.id) ?? []).map(({ file, title }) => `  - \`${file}\`${isLongForm(file) ? ' (long form)' : ''}: ${plain(title)}`),
  ]
}

function isLongForm(file: string): boolean {
  return LONG_FORM_FILES.some((pattern) => matchesGlob(file, pattern))
}

/** Markdown that reads as the text itself. */
function plain(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]<>#|]/g, '\\$&')
}
