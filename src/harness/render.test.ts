import { describe, expect, it } from 'vitest'
import { TREE_BYTES_MAX, TREE_ENTRIES_MAX, type Adapter, type Entry } from '../contract/index.ts'
import { describeAdapter } from './kinds.ts'
import { renderTree } from './render.ts'
import { native, plain } from './testing/adapters.ts'
import { contentOf, entriesIn, pulledFiles } from './tree.ts'

const rules = (id: string, text: string): Entry => ({ id, name: 'rules', config: { text } })
const skill = (id: string, name = id): Entry => ({ id, name: 'skill', config: { name, text: `about ${name}` } })
const settings = (id: string, data: Entry['config'], target = 'primary'): Entry => ({ id, name: 'config', config: { target, data } })

describe('a tree becomes files', () => {
  it('each kind where the adapter has it, settings merged in order, every file with a line end', () => {
    const entries: Entry[] = [
      rules('b', '\n  second first \n'),
      settings('one', { ui: { theme: 'light' }, list: [1, 2] }),
      { id: 'two', name: 'config', config: { data: { list: [3], ui: { columns: 100 } } } },
      rules('a', 'then this'),
      skill('style'),
      { id: 'go', name: 'agent_command', config: { name: 'go', text: 'Go.\n' } },
      { id: 'ext', name: 'code_extension', config: { name: 'ext', code: 'export default 1' } },
    ]
    expect(renderTree(plain, entries)).toEqual({
      'agent/settings.json': `${JSON.stringify({ list: [3], telemetry: false, ui: { columns: 100, theme: 'light' } }, null, 2)}\n`,
      'agent/models.json': '{}\n',
      'agent/RULES.md': 'second first\n\nthen this\n',
      'agent/skills/style/SKILL.md': 'about style\n',
      'agent/commands/go.md': 'Go.\n',
      'agent/extensions/ext.ts': 'export default 1\n',
    })
  })

  it('and with a model also says where it answers, after everything the tree says', () => {
    const model = { url: 'http://m', model: 'm-1', api: 'openai', apiKey: 'k' } as const
    const tree = [settings('own', { url: 'http://elsewhere', more: true }, 'models')]
    const bound = (api: 'openai' | 'responses' | 'anthropic') => renderTree(plain, tree, { ...model, api })['agent/models.json'] ?? ''
    expect(JSON.parse(bound('openai'))).toEqual({ url: 'http://m', model: 'm-1', key: 'k', more: true })
    expect(JSON.parse(bound('anthropic'))).toEqual({ url: 'http://m', api: 'messages', more: true })
    expect(bound('responses'), 'an API that the agent does not speak').toBe(bound('openai'))
    expect(() => renderTree(native, [], model)).toThrow('adapter native has no way to set the model')
  })

  it.each<[string, readonly Entry[], string]>([
    ['two entries on one path', [skill('a', 'x'), skill('b', 'x')], 'b and a are both rendered to agent/skills/x/SKILL.md'],
    ['two whose paths differ by case alone', [skill('a', 'x'), skill('b', 'X')], 'b and a are both rendered to agent/skills/X/SKILL.md'],
    [
      'settings that are nowhere read',
      [settings('a', {}, 'web')],
      "a: config target web is not one of plain's; there are: primary, models",
    ],
    [
      'a kind without a place',
      [{ id: 'a', name: 'native_loop', config: { name: 'a', code: '1' } }],
      'a: adapter plain does not render native_loop',
    ],
    ['a device for a name', [skill('a', 'CON')], 'a: config.name is not a valid file name on some systems'],
    ['a device with an extension', [skill('a', 'com1.txt')], 'a: config.name is not a valid file name on some systems'],
    ['a name that ends in a dot', [skill('a', 'x.')], 'a: config.name is not a valid file name on some systems'],
    ['a path outside', [skill('a', '../../x')], 'a: config.name is not a valid file name on some systems'],
    ['a text that is none', [{ id: 'a', name: 'rules', config: {} }], 'a: config.text must be text'],
  ])('never with %s', (_, entries, problem) => {
    expect(() => renderTree(plain, entries)).toThrow(problem)
  })

  it('never with an entry in the place of a file of the adapter', () => {
    const adapter: Adapter = { ...plain, layout: { ...plain.layout, named: { skill: 'agent/{name}' } } }
    expect(() => renderTree(adapter, [skill('a', 'Settings.json')])).toThrow("a and the adapter's own file are both rendered to")
    expect(() => renderTree({ ...adapter, finish: ({ files }) => ({ ...files, 'agent/Extra': '' }) }, [skill('a', 'extra')])).toThrow(
      'differ by case alone',
    )
    expect(() => renderTree({ ...adapter, finish: ({ files }) => ({ ...files, 'agent/Extra/a': '' }) }, [skill('a', 'extra')])).toThrow(
      'is a file and a folder at once',
    )
  })

  it('never with rules for an agent that reads none', () => {
    const { rules: _, ...layout } = plain.layout
    expect(() => renderTree({ ...plain, layout }, [rules('a', 'x')])).toThrow('a: adapter plain does not render rules')
  })

  it('never more of them than a release should hold', () => {
    const long = Array.from({ length: 65 }, (_, at) => rules(`r${at}`, 'x'.repeat(TREE_BYTES_MAX / 64)))
    expect(() => renderTree(plain, long)).toThrow(`at most ${TREE_BYTES_MAX} bytes`)
    expect(() =>
      contentOf(
        plain,
        long.map((entry) => ({ ...entry, disabled: true })),
      ),
    ).toThrow(`at most ${TREE_BYTES_MAX} bytes of JSON`)
    const many = Array.from({ length: TREE_ENTRIES_MAX + 1 }, (_, at) => rules(`r${at}`, 'x'))
    expect(() => contentOf(plain, many)).toThrow(`at most ${TREE_ENTRIES_MAX} entries`)
  })
})

describe('a content', () => {
  const entries: Entry[] = [rules('a', 'x'), { ...skill('b'), disabled: true }]

  it('holds the entries it was made from, which clients are not given', () => {
    const content = contentOf(plain, entries)
    expect(entriesIn(plain, content)).toEqual(entries)
    expect(pulledFiles(content)).toEqual(renderTree(plain, entries))
  })

  it('of an agent that reads its tree gives it to clients too', () => {
    const content = contentOf(native, entries)
    expect(entriesIn(native, content)).toEqual(entries)
    expect(pulledFiles(content)).toEqual(content)
  })

  it.each([
    ['nothing', {}],
    ['half a list', { '.svc-tree.json': '[{' }],
    ['no list', { '.svc-tree.json': '{}' }],
    ['entries without config', { '.svc-tree.json': '[{"id":"a","name":"rules"}]' }],
  ])('of %s says that it is no tree', (_, content) => {
    expect(() => entriesIn(plain, content)).toThrow(/release/)
  })
})

describe('an adapter is described', () => {
  it('by what someone who chooses one needs', () => {
    expect(describeAdapter(plain)).toEqual({
      name: 'plain',
      binary: 'plain-agent',
      trajectory_format: 'none',
      model_bindings: ['openai', 'anthropic'],
      kinds: ['config', 'rules', 'agent_command', 'skill', 'code_extension'],
      install: { manager: 'npm', package: 'plain-agent', version: '1.0.0', binary_path: 'node_modules/.bin/plain-agent' },
    })
    expect(describeAdapter(native)).toMatchObject({ model_bindings: [], install: null })
  })
})
