/** Terminus: what a tree becomes, what is refused, how it is started and what it leaves. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { adapterConformance } from '../../../conformance/index.ts'
import type { Entry, Files, JsonObject, ModelAddress } from '../../../src/contract/index.ts'
import { renderTree } from '../../../src/harness/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import plugin from './index.ts'

const adapter = plugin.plugin

const entry = (id: string, name: string, config: JsonObject): Entry => ({ id, name, config })

const tree: readonly Entry[] = [
  entry('turns', 'config', { data: { max_turns: 40, llm_call_kwargs: { top_p: 0.9 } } }),
  entry('brief', 'rules', { text: 'Leave no file behind.' }),
  entry('review', 'agent_command', { name: 'review', text: 'Review the last change.' }),
  entry('counting', 'skill', { name: 'counting', text: '# Count aloud\n\nOne, two, three.' }),
]
const model: ModelAddress = { url: 'http://127.0.0.1:8900', model: 'some:model', api: 'openai', apiKey: 'the-key' }

/** One text with every file under its path, in the order of the paths. */
const asText = (files: Files): string =>
  Object.entries(files)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, text]) => `=== ${path}\n${text}`)
    .join('')

/** What binding a model changes in a tree, and nothing else. */
function changed(before: Files, after: Files): Files {
  return Object.fromEntries(Object.entries(after).filter(([path, text]) => before[path] !== text))
}

describe('terminus', () => {
  adapterConformance({ describe, it, adapter, entries: tree })

  it('a tree with an entry of every kind becomes these files', async () => {
    await expect(asText(renderTree(adapter, tree))).toMatchFileSnapshot('./golden.txt')
  })

  it('a model is named among the arguments', async () => {
    await expect(asText(changed(renderTree(adapter, tree), renderTree(adapter, tree, model)))).toMatchFileSnapshot('./golden-openai.txt')
  })

  it('a model without a key gets the word for none, and one without a name is refused', () => {
    expect(renderTree(adapter, [], { ...model, apiKey: null })['terminus/config.json']).toContain('"api_key": "svc-no-token"')
    expect(() => renderTree(adapter, [], { ...model, model: null })).toThrow('set inference.upstream_model')
  })

  it.each<readonly [string, JsonObject, string]>([
    ['another model', { model_name: 'openai/other' }, 'mine: config.data.model_name is no setting'],
    ['another address', { api_base: 'http://elsewhere' }, 'mine: config.data.api_base is no setting'],
    ['arguments of the client', { llm_kwargs: { timeout: 1 } }, 'mine: config.data.llm_kwargs is no setting'],
    ['an argument nobody knows', { logs_dir: '/tmp' }, 'mine: config.data.logs_dir is no setting'],
    ['a call to another model', { llm_call_kwargs: { model: 'other' } }, 'mine: config.data.llm_call_kwargs.model is no setting'],
    ['a call elsewhere', { llm_call_kwargs: { base_url: 'http://elsewhere' } }, 'llm_call_kwargs.base_url is no setting'],
    ['a body of its own', { llm_call_kwargs: { extra_body: { model: 'other' } } }, 'llm_call_kwargs.extra_body is no setting'],
    ['no arguments at all', { llm_call_kwargs: ['model'] }, 'config.data.llm_call_kwargs must be an object'],
  ])('a tree that sets %s is refused, with a model bound and without', (_what, data, message) => {
    const mine = [entry('mine', 'config', { data })]
    for (const render of [() => renderTree(adapter, mine), () => renderTree(adapter, mine, model)])
      expect(render).toThrow(expect.objectContaining({ code: 'setting_refused', message: expect.stringContaining(message) }))
  })

  it('it has nothing to install: its program comes with the service', () => {
    expect([adapter.install, adapter.client, adapter.shipped]).toEqual([undefined, undefined, undefined])
  })

  it('a run is read as what the verifier said of it, then its steps', async () => {
    const root = temporaryFolder()
    const steps = [
      { step_id: 1, source: 'user', message: 'do it' },
      { step_id: 2, source: 'agent', message: 'done' },
    ]
    await leave(root, {
      'terminus/runs/b.json': JSON.stringify({
        schema_version: 'ATIF-v1.4',
        steps: [],
        verifier: { task: 'b', reward: 0, error: 'timeout' },
      }),
      'terminus/runs/a.json': JSON.stringify({ schema_version: 'ATIF-v1.4', steps, verifier: { task: 'a', reward: 1 } }),
      'terminus/runs/notes.txt': 'no run',
    })
    expect(await adapter.readTrajectory(root)).toEqual([
      { type: 'verifier', task: 'a', reward: 1 },
      { type: 'step', step_id: 1, source: 'user', message: 'do it' },
      { type: 'step', step_id: 2, source: 'agent', message: 'done' },
      { type: 'verifier', task: 'b', reward: 0, error: 'timeout' },
    ])
  })

  it.each(['{"steps":', '[]', '{"steps":{}}', '{"steps":[1]}'])('a document that is no run is no trajectory: %s', async (text) => {
    const root = temporaryFolder()
    await leave(root, { 'terminus/runs/a.json': text })
    await expect(adapter.readTrajectory(root)).rejects.toThrow()
  })
})

async function leave(root: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}
