/** The harness page says what the adapters are, and the wrapper page what its help says. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { usageText } from '../../agent/src/usage.ts'
import { builtins } from '../../plugins/index.ts'
import { NAMED_KINDS, type Adapter } from '../../src/contract/index.ts'
import { kindsOf } from '../../src/harness/index.ts'

const APIS: Readonly<Record<string, string>> = { openai: 'chat completions', responses: 'responses', anthropic: 'messages' }
const NATIVE = NAMED_KINDS.filter((kind) => kind.startsWith('native_'))

const pageOf = (file: string): string => readFileSync(join(import.meta.dirname, '..', '..', 'docs', file), 'utf8')
const rows = [...pageOf('harness.md').matchAll(/^\| `([a-z]+)` \| ([^|]*) \| ([^|]*) \| ([^|]*)\|$/gm)]

it('the harness page lists every adapter', () => {
  expect(new Set(rows.map(([, name]) => name))).toEqual(new Set(Object.keys(builtins.adapter)))
})

it.each(rows.map(([, name = '', kinds = '', apis = '', not = '']) => ({ name, kinds, apis, not })))(
  'the harness page says which kinds $name renders, which APIs it speaks, and whether it can be installed',
  async ({ name, kinds, apis, not }) => {
    const adapter = await adapterOf(name)
    const listed = [...kinds.matchAll(/`([a-z_]+)`/g)].map(([, kind = '']) => kind)
    const rendered = kinds.includes('the native kinds') ? [...listed, ...NATIVE] : listed
    expect(new Set(['config', 'rules', ...rendered])).toEqual(new Set(kindsOf(adapter)))
    expect(new Set(apis.split(', '))).toEqual(new Set(Object.keys(adapter.bindings).map((api) => APIS[api])))
    expect(not.includes('install')).toBe(adapter.install === undefined)
  },
)

it('the wrapper page has every command and option of the help, and every exit status', () => {
  const page = pageOf('wrapper.md')
  const client = { env: {}, env_defaults: {}, state: [], tools: [], takes: { memory: { from: 'a', to: 'b' } } }
  const help = usageText({ adapter: 'pi', binary: 'pi', scenario: 's', url: 'http://h', destination: '/d', client })
  const commands = [...help.matchAll(/^ {2}([a-z]+) /gm)].map(([, word = '']) => `| \`svc-pi ${word}`)
  const options = [...help.matchAll(/--[a-z-]+/g)].map(([option]) => option)
  const statuses = [...(/Exit status: .*/.exec(help)?.[0] ?? '').matchAll(/\b\d\b/g)].map(([status]) => `| ${status} |`)
  expect([commands.length, new Set(options).size, statuses.length]).toEqual([10, 17, 5])
  expect([...commands, ...options, ...statuses].filter((each) => !page.includes(each))).toEqual([])
})

const PAGES = globSync(['*.md', 'docs/**/*.md', '*/README.md'], { cwd: join(import.meta.dirname, '../..') })
  .filter((page) => !page.startsWith('node_modules') && !page.startsWith('docs/decisions'))
  .map((page) => ({ page, lines: pageOf(join('..', page)).split('\n') }))

it('every install line of a document carries a fingerprint', () => {
  const lines = PAGES.flatMap(({ page, lines: all }) =>
    all.filter((line) => /harness\/install\?.*\|/.test(line)).map((line) => ({ page, line })),
  )
  expect(lines.length).toBeGreaterThan(4)
  expect(lines.filter(({ line }) => !line.includes('SVC_KEY=ed25519:'))).toEqual([])
})

it('no line of a document puts the token among the arguments of a program', () => {
  const words = /curl\b.*(?:-H|-u|--header|--user)[ =]?"[^"]*\$\{?SVC_TOKEN/
  expect(words.test('curl -sS -H "authorization: Bearer $SVC_TOKEN" x')).toBe(true)
  expect(PAGES.flatMap(({ page, lines }) => lines.filter((line) => words.test(line)).map((line) => ({ page, line })))).toEqual([])
})

async function adapterOf(name: string): Promise<Adapter> {
  const modules: Readonly<Record<string, () => Promise<{ readonly default: { readonly plugin: Adapter } }>>> = builtins.adapter
  const module = await modules[name]?.()
  if (module === undefined) throw new Error(`there is no adapter ${name}`)
  return module.default.plugin
}
