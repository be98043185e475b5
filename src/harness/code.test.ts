import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CODE_CHECK_SECONDS_MAX } from '../contract/index.ts'
import { codeParses } from './code.ts'

/** Asks for code that takes a while, once it is warm. */
const ASKER = `
  import { codeParses, codeParsesBeside } from ${JSON.stringify(join(import.meta.dirname, 'code.ts'))}
  const line = (_, at) => 'export const a' + at + ' = (b: string): number => b.length'
  const code = Array.from({ length: 20_000 }, line).join('\\n')
  codeParses('1')
  process.stderr.write('asks')
  const parses = process.argv[1] === 'beside' ? await codeParsesBeside(code) : codeParses(code)
  process.stdout.write(String(parses))
`

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

  it.skipIf(process.platform === 'win32').each(['waited for', 'beside'])(
    'that the machine has no time for is not refused for that, %s',
    async (way) => {
      const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', ASKER, way])
      onTestFinished(() => void child.kill('SIGKILL'))
      const said = text(child.stdout)
      await once(child.stderr, 'data')
      child.kill('SIGSTOP')
      await sleep(CODE_CHECK_SECONDS_MAX * 1000 + 200)
      child.kill('SIGCONT')
      expect(await said).toBe('true')
    },
  )
})
