import { describe, expect, it } from 'vitest'
import { codeParses } from './code.ts'

describe('code', () => {
  it.each([
    ['plain JavaScript', 'export const run = async () => 1'],
    ['types', 'export function run(args: { path: string }): string { return args.path }'],
    ['imports and a top-level await', "import { readFile } from 'node:fs/promises'\nexport const text = await readFile('a')"],
  ])('with %s parses', (_, code) => {
    expect(codeParses(code)).toBe(true)
  })

  it.each([
    ['half a statement', 'const a ='],
    ['another language', 'def run(args):\n    return 1'],
    ['types that leave something to run', 'enum Colour { Red }'],
  ])('of %s does not parse', (_, code) => {
    expect(codeParses(code)).toBe(false)
  })

  it.each([
    ['break the parser for good', '['.repeat(20_000)],
    ['keep the parser busy for hours', `let a = ${'async<T>(a='.repeat(30)}1${')'.repeat(30)}`],
  ])('that would %s is refused, and the next one is judged as ever', (_, code) => {
    expect(codeParses(code)).toBe(false)
    expect(codeParses('let a: string')).toBe(true)
    expect(codeParses('let a: ;')).toBe(false)
  })
})
