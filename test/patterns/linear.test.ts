/** Every regular expression of the code takes time in proportion to the text that it reads: counted in steps, on texts made to be slow for it. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'rolldown/utils'
import { describe, expect, it, vi } from 'vitest'
import { slowText } from './steps.ts'

const root = join(import.meta.dirname, '../..')
const FILES = globSync('{src,plugins,client,agent,native,console}/**/*.{ts,tsx,mjs}', {
  cwd: root,
  exclude: ['**/node_modules/**', '**/dist/**', '**/*.test.ts', '**/{testing,test}/**', '**/testing.ts'],
})

/** Patterns of these files read no stranger's text, or one cut to a length first. */
const READ_SHORT: readonly (readonly [files: RegExp, why: string])[] = [
  [/^plugins\/runtimes\/practice\//, 'the model of the practice agent, which answers short tasks of its own families'],
  [/^plugins\/miners\/git\/message\.ts$/, 'reads 10,000 characters of a message at most'],
]

/** These make patterns of words that are known only when they are needed, each as it is written, with nothing repeated in it. */
const MADE_LATER = new Set([
  'agent/src/places.ts',
  'plugins/contents/common/refs/ref-names.ts',
  'plugins/contents/s3/xml.ts',
  'plugins/executors/common/processes.ts',
  'plugins/executors/common/toolchains.ts',
  'src/dialects/readers/replay.ts',
  // Below they are found where they are written.
  'src/evolution/proposing/reply.ts',
  'src/harness/powers/texts.ts',
  // Only whether it is one: no text is read by it.
  'src/harness/graph.ts',
  'src/kit/known-key.ts',
  'src/kit/mentions.ts',
])

interface Found {
  readonly literals: readonly RegExp[]
  /** The number that is made by `new RegExp`. */
  readonly made: number
}

function patternsIn(file: string): Found {
  const text = readFileSync(join(root, file), 'utf8')
  // Quicker than reading what can hold none.
  if (!/\bRegExp\(|[(,=:[!&|?{;\n]\s*\/[^/*\s]|(?:return|=>|typeof) \//.test(text)) return { literals: [], made: 0 }
  const literals: RegExp[] = []
  let made = 0
  const look = (node: unknown, isPower: boolean): void => {
    if (Array.isArray(node)) for (const each of node) look(each, isPower)
    if (!isNode(node)) return
    if (node.regex !== undefined) literals.push(new RegExp(node.regex.pattern, isPower ? linewise(node.regex.flags) : node.regex.flags))
    if (node.type === 'NewExpression' && isNode(node.callee) && node.callee.name === 'RegExp') made += 1
    // Patterns of an adapter's powers are looked for in all lines.
    const isOfPower = node.type === 'Property' && isNode(node.key) && node.key.name === 'pattern'
    for (const value of Object.values(node)) look(value, isOfPower)
  }
  look(parseSync(file, text).program, false)
  return { literals, made }
}

interface SyntaxNode {
  readonly type: string
  readonly name?: string
  readonly regex?: { readonly pattern: string; readonly flags: string }
  readonly callee?: unknown
  readonly key?: unknown
}
const isNode = (value: unknown): value is SyntaxNode => typeof value === 'object' && value !== null && 'type' in value
const linewise = (flags: string): string => [...new Set(`${flags}gm`)].join('')

/** The patterns that modules make when they are loaded, by module. */
async function madeBy(files: readonly string[]): Promise<ReadonlyMap<string, readonly RegExp[]>> {
  const made = new Map(files.map((file): [string, RegExp[]] => [file, []]))
  const noted = new Proxy(RegExp, {
    construct(target, [source, flags]: [string, string?]) {
      const pattern = new target(source, flags)
      const [, , caller = ''] = new Error('made').stack?.split('\n') ?? []
      made.get(files.find((file) => caller.includes(`/${file}`)) ?? '')?.push(pattern)
      return pattern
    },
  })
  vi.stubGlobal('RegExp', noted)
  try {
    vi.resetModules()
    for (const file of files) await import(join(root, file))
  } finally {
    vi.unstubAllGlobals()
  }
  return made
}

const found = FILES.map((file) => ({ file, ...patternsIn(file) }))
const isReadShort = (file: string): boolean => READ_SHORT.some(([files]) => files.test(file))

describe('the patterns of the code', () => {
  it('take time in proportion to what they read, whatever it is made of', async () => {
    const seen = new Set<string>()
    const slow: string[] = []
    const check = (file: string, pattern: RegExp): void => {
      if (seen.has(String(pattern))) return
      seen.add(String(pattern))
      const text = slowText(pattern)
      if (text !== null) slow.push(`${file}: ${String(pattern)} on ${text}`)
    }
    const read = found.filter(({ file }) => !isReadShort(file))
    for (const { file, literals } of read) for (const pattern of literals) check(file, pattern)
    const makers = read.filter(({ file, made }) => made > 0 && !MADE_LATER.has(file))
    const made = await madeBy(makers.map(({ file }) => file))
    for (const maker of makers) {
      const patterns = made.get(maker.file) ?? []
      expect([maker.file, patterns.length >= maker.made]).toEqual([maker.file, true])
      for (const pattern of patterns) check(maker.file, pattern)
    }
    expect(slow).toEqual([])
    expect(seen.size).toBeGreaterThan(500)
  }, 120_000)

  it('are all known: what is left out is still there', () => {
    for (const [files] of READ_SHORT) expect([files, found.some(({ file }) => files.test(file))]).toEqual([files, true])
    for (const file of MADE_LATER) expect([file, found.some((each) => each.file === file && each.made > 0)]).toEqual([file, true])
  })
})

describe('the counting of steps', () => {
  it.each([
    [/^\s*!/gm, true],
    [/!`|^\s*```!/m, true],
    [/\s+$/, true],
    [/<!--[^]*?-->/g, true],
    [/^(?:a+)+$/, true],
    [/^\s*\s*b/, true],
    [/(?=.*b)a/g, true],
    [/(?<=a.*)b/g, true],
    [/^[^\S\n\r\u2028\u2029]*!/gm, false],
    [/(?<!\s)\s+$/, false],
    [/^.*b/, false],
    [/(?<q>["'])x{0,9}\1/g, false],
    [/\bab?c{2,200}\B/giu, false],
  ])('tells whether %s takes more than linear time: %s', (pattern, isSlow) => {
    expect(slowText(pattern) !== null).toBe(isSlow)
  })
})
