/** What every adapter must do, as a suite that any test runner with `describe` and `it` can run. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Adapter, Entry, Files, ModelAddress, Task } from '../src/contract/index.ts'
import { assertKeepable, assertPlain, assertUntouched, type Runner } from './support.ts'

export interface AdapterSuite extends Runner {
  readonly adapter: Adapter
  /** A tree it can render: entries of the kinds it knows, none of them disabled. */
  readonly entries: readonly Entry[]
}

const MODEL: ModelAddress = { url: 'http://127.0.0.1:1/model-of-this-suite', model: 'm', api: 'openai', apiKey: 'sk-of-this-suite' }
const TASK: Task = { name: 'count', prompt: 'Count from one to three, with "quotes" and $signs.' }

export function adapterConformance(suite: AdapterSuite): void {
  const { describe } = suite
  describe('what it says of itself', () => describeItself(suite))
  describe('rendering', () => describeRendering(suite))
  describe('binding a model', () => describeBinding(suite))
  describe('launching', () => describeLaunching(suite))
}

function describeItself({ it, adapter }: AdapterSuite): void {
  it('it has a name, a binary and a trajectory format, and knows a kind of entry or more', async () => {
    for (const text of [adapter.name, adapter.binary, adapter.trajectory_format]) assert.notEqual(text.trim(), '')
    assert.ok(adapter.kinds.length > 0, 'it renders nothing')
    for (const list of [adapter.kinds, adapter.model_bindings]) assert.deepEqual(list, [...new Set(list)])
  })
}

function describeRendering({ it, adapter, entries }: AdapterSuite): void {
  it('entries become files that every store keeps', async () => {
    const files = adapter.render(entries)
    assert.notDeepEqual(files, {})
    assertKeepable(files)
  })
  it('the same entries become the same files, and are afterwards what they were', async () => {
    await assertUntouched(entries, () => assert.deepEqual(adapter.render(entries), adapter.render(structuredClone(entries))))
  })
  it('no entries are a tree too', async () => {
    assertKeepable(adapter.render([]))
  })
  it('a disabled entry is rendered as if it were not there', async () => {
    for (const [at] of entries.entries()) {
      const disabled = entries.map((entry, index) => (index === at ? { ...entry, disabled: true } : entry))
      assert.deepEqual(adapter.render(disabled), adapter.render(entries.toSpliced(at, 1)))
    }
  })
}

function describeBinding({ it, adapter, entries }: AdapterSuite): void {
  it('the files then name the model, none of them is lost, and what was handed over is what it was', async () => {
    const files = adapter.render(entries)
    await assertUntouched(files, (given) => {
      const bound = adapter.bindModel(given, MODEL)
      assertKeepable(bound)
      assert.ok(textOf(bound).includes(MODEL.url), 'no file says where the model is')
      for (const path of Object.keys(files)) assert.ok(Object.hasOwn(bound, path), `${path} is gone`)
    })
  })
  it('binding another model leaves nothing of the one before', async () => {
    const first = adapter.bindModel(adapter.render(entries), MODEL)
    const other: ModelAddress = { url: 'http://127.0.0.1:2/other', model: null, api: 'anthropic', apiKey: null }
    const text = textOf(adapter.bindModel(first, other))
    assert.ok(text.includes(other.url), 'no file says where the model is')
    assert.ok(!text.includes(MODEL.url) && !text.includes('sk-of-this-suite'), 'the address or the key of the model before is still there')
  })
}

function describeLaunching({ it, adapter }: AdapterSuite): void {
  it('a task becomes a command with a time limit, the same each time', async () => {
    const launch = adapter.launch(TASK, '/root')
    assert.ok(launch.argv.length > 0 && launch.argv.every((word) => typeof word === 'string'), 'argv is no command')
    assert.ok(launch.timeoutSeconds > 0, 'it would be ended at once')
    assertPlain(launch, 'the launch')
    assert.deepEqual(adapter.launch(TASK, '/root'), launch)
  })
  it('the prompt is handed over whole, as one word: no shell reads it', async () => {
    const { argv, env } = adapter.launch(TASK, '/root')
    assert.ok([...argv, ...Object.values(env)].includes(TASK.prompt), 'the prompt is neither a word of the command nor a variable')
  })
  it('where no agent ran there is an empty trajectory', async () => {
    const root = await mkdtemp(join(tmpdir(), 'adapter-'))
    try {
      assert.deepEqual(await adapter.readTrajectory(root), [])
    } finally {
      await rm(root, { recursive: true, force: true })
    }
  })
}

const textOf = (files: Files): string => Object.values(files).join('\n')
