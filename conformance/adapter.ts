/** Conformance suite for adapters, for any test runner with `describe` and `it`. */
import assert from 'node:assert/strict'
import { isRefusal, MODEL_APIS, NAMED_KINDS, pathProblem, RESERVED_ENTRIES } from '../src/contract/index.ts'
import type { Adapter, Entry, Files, ModelAddress, ModelApi } from '../src/contract/index.ts'
import { kindsOf, renderTree } from '../src/harness/index.ts'
import { assertKeepable, assertPlain, assertUntouched, withFolder, type Runner } from './support.ts'

export interface AdapterSuite extends Runner {
  readonly adapter: Adapter
  /** A tree with an enabled entry of every kind it renders. */
  readonly entries: readonly Entry[]
}

const MODEL = { url: 'http://127.0.0.1:1/first-of-this-suite', model: 'first-model-of-this-suite', apiKey: 'first-key-of-this-suite' }
const OTHER = { url: 'http://127.0.0.1:2/other-of-this-suite', model: 'other-model-of-this-suite', apiKey: 'other-key-of-this-suite' }
const TASK = { prompt: 'Count from one to three,\nwith "quotes", $signs, `ticks` and -- dashes.' }

export function adapterConformance(suite: AdapterSuite): void {
  const { describe } = suite
  describe('what it says of itself', () => describeItself(suite))
  describe('rendering', () => describeRendering(suite))
  describe('binding a model', () => describeBinding(suite))
  describe('launching', () => describeLaunching(suite))
  describe('installing', () => describeInstalling(suite))
}

function describeItself({ it, adapter, entries }: AdapterSuite): void {
  const { layout } = adapter
  it('it has a name, a trajectory format, and a binary where it is installed', async () => {
    for (const text of [adapter.name, adapter.binary, adapter.trajectory_format]) assert.notEqual(text?.trim(), '')
    if (adapter.install !== undefined) assert.ok(adapter.binary !== undefined)
    assert.match(adapter.name, /^[a-z0-9][a-z0-9-]*$/, 'its name becomes the end of a command')
  })
  it('config without a target has a file, and every file of its own a path of its own that stores keep', async () => {
    assert.ok(Object.hasOwn(layout.config, 'primary'), 'layout.config has no primary')
    const paths = [...Object.values(layout.config).map(({ path }) => path), layout.rules, layout.tree].filter((path) => path !== undefined)
    for (const path of paths) assert.equal(pathProblem(path), null, path)
    assert.equal(new Set(paths.map((path) => path.toLowerCase())).size, paths.length, `two of these are one file: ${paths.join(', ')}`)
  })
  it('where an entry has a file of its own, its name is in the path', async () => {
    const kinds = new Set<string>(NAMED_KINDS)
    for (const [kind, template] of Object.entries(layout.named)) {
      assert.ok(kinds.has(kind), `${kind} is no kind of entry with a name`)
      assert.ok(template.includes('{name}'), `${template}: two entries of kind ${kind} would be one file`)
      assert.equal(pathProblem(template.replaceAll('{name}', 'x')), null, template)
    }
  })
  it('the tree of this suite has every kind that it renders', async () => {
    assert.deepEqual(new Set(entries.map(({ name }) => name)), new Set<string>(kindsOf(adapter)))
  })
}

function describeRendering({ it, adapter, entries }: AdapterSuite): void {
  it('entries become files that every store keeps', async () => {
    const files = renderTree(adapter, entries)
    assert.notDeepEqual(files, {})
    assertKeepable(files)
  })
  it('the same entries become the same files, and nothing that was handed over is changed', async () => {
    await assertUntouched({ entries, layout: adapter.layout }, () => {
      const files = renderTree(adapter, entries)
      assert.deepEqual(renderTree(adapter, []), renderTree(adapter, []))
      assert.deepEqual(renderTree(adapter, structuredClone(entries)), files)
    })
  })
  it('no entries are a tree too', async () => {
    assertKeepable(renderTree(adapter, []))
  })
  it('a disabled entry is rendered as if it were not there', async () => {
    for (const [at, { id }] of entries.entries()) {
      const disabled = entries.map((entry, index) => (index === at ? { ...entry, disabled: true } : entry))
      assert.deepEqual(attempt(adapter, disabled), attempt(adapter, entries.toSpliced(at, 1)), id)
    }
  })
}

/** Another entry may need the removed one: then both removals are refused. */
function attempt(adapter: Adapter, entries: readonly Entry[]): Files | 'refused' {
  try {
    return renderTree(adapter, entries)
  } catch {
    return 'refused'
  }
}

function describeBinding({ it, adapter, entries }: AdapterSuite): void {
  it('it can be bound to a model in one API at least', async () => {
    assert.notEqual(apisOf(adapter).length, 0)
  })
  it('a tree without a model names none', async () => {
    renderTree(adapter, entries, { ...MODEL, api: 'openai' })
    assertHoldsNothingOf(renderTree(adapter, entries), MODEL)
  })
  for (const api of apisOf(adapter)) {
    const model: ModelAddress = { ...MODEL, api }
    it(`${api}: the files then name the model and its address, and none of them is lost`, async () => {
      const bound = renderTree(adapter, entries, model)
      assertKeepable(bound)
      for (const text of [MODEL.url, MODEL.model, MODEL.apiKey]) assert.ok(textOf(bound).includes(text), `no file holds ${text}`)
      for (const path of Object.keys(renderTree(adapter, entries))) assert.ok(Object.hasOwn(bound, path), `${path} is gone`)
    })
    it(`${api}: of two models each leaves nothing with the other`, async () => {
      const first = renderTree(adapter, entries, model)
      const second = renderTree(adapter, entries, { ...OTHER, api })
      assertHoldsNothingOf(first, OTHER)
      assertHoldsNothingOf(second, MODEL)
      assert.deepEqual(renderTree(adapter, entries, model), first)
    })
    it(`${api}: a model without a key is bound too, and one without a name bound or refused as model_missing`, async () => {
      assert.ok(textOf(renderTree(adapter, entries, { ...model, apiKey: null })).includes(MODEL.url), 'no file says where the model is')
      try {
        assertKeepable(renderTree(adapter, entries, { ...model, model: null }))
      } catch (error) {
        if (!isRefusal(error) || error.code !== 'model_missing') throw error
      }
    })
  }
}

function assertHoldsNothingOf(files: Files, { url, model, apiKey }: typeof MODEL): void {
  for (const text of [url, model, apiKey]) assert.ok(!textOf(files).includes(text), `a file holds ${text}`)
}

function describeLaunching({ it, adapter }: AdapterSuite): void {
  it('a task becomes a command with a time limit, the same each time', async () => {
    const launch = adapter.launch(TASK, '/root')
    assert.ok(launch.argv.length > 0 && launch.argv.every((word) => typeof word === 'string'), 'argv is not a command')
    for (const value of Object.values(launch.env)) assert.equal(typeof value, 'string', 'env must map names to texts')
    assert.ok(launch.timeoutSeconds > 0, 'it would be ended at once')
    assertPlain(launch, 'the launch')
    assert.deepEqual(adapter.launch(TASK, '/root'), launch)
  })
  it('the prompt is handed over as it is, in one variable or in words that follow each other: no shell reads it', async () => {
    const { argv, env } = adapter.launch(TASK, '/root')
    if (Object.values(env).includes(TASK.prompt)) return
    const first = firstWordOf(TASK.prompt, argv)
    assert.notEqual(first, -1, 'the prompt is neither a variable nor arguments of the command joined by spaces')
    const isScript = argv.slice(0, first).some((word) => SHELL.test(word)) && /^-[a-z]*c$/.test(argv[first - 1] ?? '')
    assert.ok(!isScript, 'the prompt is run by a shell; start the agent without one')
  })
  it('where no agent ran there is an empty trajectory', async () => {
    await withFolder(async (root) => assert.deepEqual(await adapter.readTrajectory(root), []))
  })
}

/** The index of the first argument of the prompt, which may be split at spaces. An argument may be an option's value in quotes. */
function firstWordOf(prompt: string, argv: readonly string[]): number {
  const words = argv.map((word) => word.replace(/^--[a-z][a-z-]*=("?)([^]*)\1$/, (_option, _quote, value: string) => value))
  return words.findIndex((_, first) => words.some((_word, last) => words.slice(first, last + 1).join(' ') === prompt))
}

const SHELL = /(?:^|\/)(?:ba|da|k|z)?sh$/

const textOf = (files: Files): string => Object.values(files).join('\n')

const URL_TO_FILL_IN = 'url-to-fill-in'
const KEY_TO_FILL_IN = 'key-to-fill-in'

function describeInstalling({ it, adapter, entries }: AdapterSuite): void {
  const { install, client, shipped } = adapter
  it('how it is installed and how a session runs come together or not at all', async () => {
    assert.equal(install === undefined, client === undefined)
  })
  it('what lands in a command line has no character that a shell reads', async () => {
    if (install === undefined) return
    assert.match(install.package, /^[A-Za-z0-9@._/-]+$/, 'install.package')
    for (const text of [install.version, install.ref ?? '0', install.node_least ?? '0']) assert.match(text, /^[A-Za-z0-9._-]+$/)
    assert.equal(pathProblem(install.binary_path), null, 'install.binary_path must stay below the prefix')
  })
  it('an install from git says where from, over https, and at which commit', async () => {
    if (install?.manager !== 'git') return
    assert.match(install.repository ?? '', /^https:\/\/[A-Za-z0-9._/-]+$/, 'install.repository')
    assert.match(install.commit ?? '', /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, 'install.commit must be a whole commit id: a tag can be moved')
  })
  it('what a session sets and keeps is named as shells and stores name it', async () => {
    if (client === undefined) return
    for (const name of [...Object.keys(client.env), ...Object.keys(client.env_defaults)]) assert.match(name, /^[A-Za-z_][A-Za-z0-9_]*$/)
    for (const path of [
      ...client.state,
      ...Object.keys(client.state_fields ?? {}),
      ...Object.values(client.takes ?? {}).map(({ to }) => to),
    ])
      assert.equal(pathProblem(path.replace(/\/$/, '')), null, path)
    for (const tool of client.tools) assert.match(`${tool.command} ${tool.package}`, /^[A-Za-z0-9._-]+ [A-Za-z0-9@._/-]+$/)
  })
  it('address and key stand inside quoted strings, so that any value filled in for them stays one value', async () => {
    if (install === undefined) return
    for (const api of apisOf(adapter))
      assertQuoted(renderTree(adapter, entries, { url: URL_TO_FILL_IN, model: 'm', api, apiKey: KEY_TO_FILL_IN }))
  })
  it('entries that the service ships have ids of theirs alone, and render in a person’s tree', async () => {
    const ships = [...(shipped?.version_check ?? []), ...(shipped?.requests ?? [])]
    const ids = ships.map(({ id }) => id)
    const reserved = new Set<string>(RESERVED_ENTRIES)
    assert.equal(new Set(ids).size, ids.length, `an id is shipped twice: ${ids.join(', ')}`)
    for (const id of ids) assert.ok(reserved.has(id), `${id} is no reserved id`)
    renderTree(adapter, [...entries, ...ships])
  })
}

/** The APIs that it has bindings for. */
function apisOf({ bindings }: Adapter): readonly ModelApi[] {
  return MODEL_APIS.filter((api) => bindings[api] !== undefined)
}

/** An odd number of quotes precedes each value on its line. */
function assertQuoted(files: Files): void {
  for (const [path, text] of Object.entries(files))
    for (const line of text.split('\n'))
      for (const value of [URL_TO_FILL_IN, KEY_TO_FILL_IN].filter((each) => line.includes(each))) {
        const before = line.slice(0, line.indexOf(value)).replaceAll(/\\./g, '')
        assert.equal((before.split('"').length - 1) % 2, 1, `${path}: ${value} is not inside a double-quoted string`)
      }
}
