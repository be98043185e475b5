/** The pages about plug-ins show the signatures of the contract as they are, and name no type that they do not show. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { SIGNATURES_PAGE, signaturesPage, withoutComments, withSignatures } from '../../scripts/signatures.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const pages = globSync('docs/extend/*.md', { cwd: root }).filter((path) => path !== SIGNATURES_PAGE)

/** What the language has, and the status of a service, which is on the page of the interface. */
const KNOWN = new Set(
  `AbortSignal AsyncIterable Error ErrorOptions Exclude Extract Map MessagePort Omit Partial Pick Promise Readonly ReadonlyMap ReadonlySet
  Record RegExp ServiceStatus Uint8Array WireType`.split(/\s+/),
)

it(`${SIGNATURES_PAGE} is up to date (else: npm run docs)`, () => {
  expect(read(SIGNATURES_PAGE) === signaturesPage(), `${SIGNATURES_PAGE} is stale; run: npm run docs`).toBe(true)
})

it.each(pages)('%s shows signatures and examples as they are (else: npm run docs)', (path) => {
  expect(read(path)).toBe(withSignatures(read(path), path))
})

it('every type that a signature names is there too', () => {
  const blocks = [...signaturesPage().matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, block = '']) => withoutComments(block))
  const code = blocks.join('\n').replaceAll(/'[^'\n]*'/g, '')
  const declared = new Set([...code.matchAll(/\b(?:interface|type|class|const|function) (\w+)/g)].map(([, name]) => name))
  const parameters = new Set([...code.matchAll(/[<,] ?(\w+) (?:extends|=) /g)].map(([, name]) => name))
  const named = new Set([...code.matchAll(/(?<![.\w])[A-Z]\w+\b(?!\w*:)/g)].map(([name]) => name))
  expect([...named].filter((name) => !declared.has(name) && !parameters.has(name) && !KNOWN.has(name))).toEqual([])
})

it('finds a signature that is gone', () => {
  const page = '```ts\ninterface Gone {\n}\n```\n'
  expect(() => withSignatures(page, 'docs/x.md')).toThrow('docs/x.md shows Gone, which src/contract does not have')
})

it('finds a signature that has changed, and an example that has', () => {
  const signature = '```ts\ninterface Evaluator {\n  score(): number\n}\n```\n'
  const now = withSignatures(`${signature}\n\`examples/evaluator/last-line.ts\`, whole:\n\n\`\`\`ts\nold\n\`\`\`\n`, 'docs/x.md')
  expect(now).toContain('score(task: Task, episode: Episode, scene: Scene): Promise<number | null>')
  expect(now).toContain("import { define } from '@svc-ai/svc/contract'")
  expect(now).not.toContain('old')
})
