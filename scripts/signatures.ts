/** The signatures of the contract, as the pages about plug-ins show them: on those pages the main ones, and all of them on one page. */
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { wireDeclarer } from './wire-types.ts'

export const SIGNATURES_PAGE = 'docs/extend/signatures.md'

const root = join(import.meta.dirname, '..')
/** What a plug-in is made with, and the failures it throws. Everything else is reached from these. */
const ROOTS = ['define', 'Kinds', 'Refusal', 'isRefusal', 'invalid', 'unknown', 'conflict', 'unsupported', 'upstream', 'unavailable']
const BEGINNING = /^(?:export )?(?:type|interface|class|function|const) (\w+)/
/** A line at the margin that belongs to no declaration before it. */
const NEXT = /^(?:export|import|type|interface|class|function|const|async|\/\*\*|\/\/|let) ?/

interface Declaration {
  readonly file: string
  readonly text: string
}

export function signaturesPage(): string {
  const all = contractDeclarations()
  const files = Map.groupBy(reached(all), (name) => all.get(name)?.file ?? '')
  const sections = [...files]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([file, names]) => [`## ${file}`, ...names.toSorted().map((name) => entryOf(name, all))].join('\n\n'))
  return `# Every signature

This page is generated from \`src/contract\` by \`npm run docs\`.

What a plug-in of any kind may be given, may return and may throw, as \`@svc-ai/svc/contract\` has it. [Extending it](README.md) says which kind is for what.

${sections.join('\n\n')}
`
}

/** A page with the signatures that its blocks show as they are now. A block of signatures holds nothing else. */
export function withSignatures(page: string, path: string): string {
  const all = contractDeclarations()
  const shown = (name: string): string => {
    const found = all.get(name)
    if (found === undefined) throw new Error(`${path} shows ${name}, which src/contract does not have`)
    return found.text
  }
  return page
    .replaceAll(/^```ts\n((?:\/\*\*[\s\S]*?\*\/\n)?(?:interface|type) [\s\S]*?)^```$/gm, (_, block: string) => {
      const names = [...block.matchAll(/^(?:interface|type) (\w+)/gm)].map(([, name = '']) => name)
      return `\`\`\`ts\n${names.map(shown).join('\n\n')}\n\`\`\``
    })
    .replaceAll(/^(`(examples\/[\w/.-]+)`[^\n]*, whole:\n\n```ts\n)[\s\S]*?^```$/gm, (_, before: string, file: string) => {
      return `${before}${exampleFor(file)}\`\`\``
    })
}

/** As a person writes it outside of this repository. */
const exampleFor = (file: string): string =>
  readFileSync(join(root, file), 'utf8').replaceAll(/'(?:\.\.\/)+src\/(\w+)\/index\.ts'/g, `'@svc-ai/svc/$1'`)

function entryOf(name: string, all: ReadonlyMap<string, Declaration>): string {
  return `### ${name}\n\n\`\`\`ts\n${all.get(name)?.text}\n\`\`\``
}

function reached(all: ReadonlyMap<string, Declaration>): readonly string[] {
  const names = new Set(ROOTS)
  for (const name of names)
    for (const [other] of withoutComments(all.get(name)?.text ?? '').matchAll(/\b[A-Za-z]\w+\b/g))
      if (all.has(other) && /^[A-Z]/.test(other)) names.add(other)
  return [...names]
}

export const withoutComments = (code: string): string => code.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')

let known: ReadonlyMap<string, Declaration> | null = null

/** By name. What the wire has too is printed from its schema. */
const contractDeclarations = (): ReadonlyMap<string, Declaration> => (known ??= readDeclarations())

function readDeclarations(): ReadonlyMap<string, Declaration> {
  const files = globSync('src/contract/*.ts', { cwd: root }).filter((file) => !/index\.ts$|\.test\.ts$/.test(file))
  const own = files.flatMap((file) => declarationsIn(readFileSync(join(root, file), 'utf8'), basename(file, '.ts')))
  return new Map([...wireDeclarations(files.flatMap((file) => wireNamesIn(readFileSync(join(root, file), 'utf8')))), ...own])
}

/** A body or an answer is printed from its schema. A part of one is shown as its schema. */
function wireDeclarations(names: readonly string[]): ReadonlyMap<string, Declaration> {
  const files = globSync('src/contract/wire/*.ts', { cwd: root })
  const sources = new Map(files.flatMap((file) => declarationsIn(readFileSync(join(root, file), 'utf8'), 'wire')))
  const declare = wireDeclarer()
  const found = new Map<string, Declaration>()
  const add = (name: string): void => {
    if (found.has(name)) return
    const printed = declare(name)
    const text = printed?.text ?? schemaAndType(name, sources)
    found.set(name, { file: 'wire', text })
    printed?.others.forEach(add)
  }
  names.forEach(add)
  return found
}

function schemaAndType(name: string, sources: ReadonlyMap<string, Declaration>): string {
  const type = sources.get(name)?.text ?? ''
  const [, schema = ''] = /typeof (\w+)>/.exec(type) ?? []
  return [sources.get(schema)?.text, type].filter((text) => text !== undefined).join('\n')
}

function wireNamesIn(text: string): readonly string[] {
  const [, names = ''] = /^import type \{([^}]*)\} from '\.\/wire\/index\.ts'$/m.exec(text) ?? []
  return names.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]))
}

/** Sources are formatted: what belongs to a declaration is indented, or closes it. */
function declarationsIn(text: string, file: string): readonly (readonly [string, Declaration])[] {
  const lines = text.split('\n')
  const found = lines.flatMap((line, at) => {
    const [, name] = BEGINNING.exec(line) ?? []
    if (name === undefined) return []
    const next = lines.findIndex((other, place) => place > at && (NEXT.test(other) || other === ''))
    const body = lines.slice(at, next === -1 ? undefined : next).map(unexported)
    return [{ name, text: [...commentBefore(lines, at), ...signatureOf(body)].join('\n') }]
  })
  // A function with several signatures has them all under its name.
  const named = Map.groupBy(found, ({ name }) => name)
  return [...named].map(([name, all]) => [name, { file, text: all.map((each) => each.text).join('\n') }] as const)
}

/** Of a function what it takes and answers, and not what it does. */
function signatureOf(lines: readonly string[]): readonly string[] {
  const [first = ''] = lines
  const [arrow] = /^const \w+ = (?:<.*>)?\(.*\): [^=]+(?= =>)/.exec(first) ?? []
  if (arrow !== undefined) return [arrow]
  return first.startsWith('function') ? [first.replace(/ \{$/, '')] : lines
}

const unexported = (line: string): string => line.replace(/^export /, '')

function commentBefore(lines: readonly string[], at: number): readonly string[] {
  if (lines[at - 1]?.endsWith('*/') !== true) return []
  const begin = lines.slice(0, at).findLastIndex((line) => line.startsWith('/**'))
  return lines.slice(begin, at)
}
