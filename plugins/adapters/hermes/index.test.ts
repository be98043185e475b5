/** Hermes: what a tree becomes, what is refused, how it is started and what it leaves. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { adapterConformance } from '../../../conformance/index.ts'
import type { Entry, Files, JsonObject, ModelAddress } from '../../../src/contract/index.ts'
import { renderTree } from '../../../src/harness/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import plugin from './index.ts'

const adapter = plugin.plugin

const entry = (id: string, name: string, config: JsonObject): Entry => ({ id, name, config })

const tree: readonly Entry[] = [
  entry('manners', 'config', { data: { display: { on: 'yes' }, skills: { template_vars: false } } }),
  entry('brief', 'rules', { text: '# Rules\n\nAnswer in one line.' }),
  entry('honest', 'rules', { text: 'Say when you do not know.' }),
  entry('review', 'agent_command', { name: 'review', text: 'Review the last change.' }),
  entry('fix', 'agent_command', { name: 'fix', text: '---\nname: fix\ndescription: Fix what fails\n---\nRun the tests first.' }),
  entry('counting', 'skill', { name: 'counting', text: '# Count aloud: "one", two\n\nOne, two, three.' }),
  entry('greeter', 'code_extension', { name: 'greeter', code: 'def register(ctx):\n    pass' }),
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

describe('hermes', () => {
  adapterConformance({ describe, it, adapter, entries: tree })

  it('a tree with an entry of every kind becomes these files', async () => {
    await expect(asText(renderTree(adapter, tree))).toMatchFileSnapshot('./golden.txt')
  })

  it('a model is a provider of its own, and the default', async () => {
    await expect(asText(changed(renderTree(adapter, tree), renderTree(adapter, tree, model)))).toMatchFileSnapshot('./golden-openai.txt')
  })

  it('a model without a key gets the word for none, and one without a name is refused', () => {
    expect(renderTree(adapter, [], { ...model, apiKey: null })['hermes/config.yaml']).toContain('api_key: "svc-no-token"')
    expect(() => renderTree(adapter, [], { ...model, model: null })).toThrow('set inference.upstream_model')
  })

  it('what Python would read as another value stays the text it was', () => {
    const odd = { on: 'off', '2020-01-01': 'no', 'a: b': 'c # d', '': 'e\n---\nf' }
    const files = renderTree(adapter, [entry('odd', 'config', { data: { display: odd } })])
    expect(parse(files['hermes/config.yaml'] ?? '', { version: '1.1' })).toMatchObject({ display: odd })
  })

  it('plug-ins that the tree enables itself stay enabled beside those of its entries', () => {
    const own = entry('own', 'config', {
      data: { plugins: { enabled: ['disk-cleanup'], entries: { greeter: { allow_tool_override: false } } } },
    })
    const files = renderTree(adapter, [own, ...tree])
    expect(parse(files['hermes/config.yaml'] ?? '')).toMatchObject({
      plugins: { enabled: ['disk-cleanup', 'greeter'], entries: { greeter: { allow_tool_override: true } } },
    })
  })

  it.each<readonly [string, JsonObject, string]>([
    ['another model', { model: { default: 'other' } }, 'mine: config.data.model is set by the service'],
    ['another provider', { providers: { other: {} } }, 'mine: config.data.providers is set by the service'],
    ['another provider as a list', { custom_providers: [] }, 'mine: config.data.custom_providers is set by the service'],
    ['a model to fall back on', { fallback_providers: [] }, 'mine: config.data.fallback_providers is set by the service'],
    ['a model for side tasks', { auxiliary: { vision: { provider: 'openrouter' } } }, 'mine: config.data.auxiliary is set by the service'],
    ['skills from elsewhere', { skills: { external_dirs: ['/'] } }, 'mine: config.data.skills.external_dirs is set by the service'],
    ['no commands', { skills: null }, 'config.data.skills must stay an object'],
    ['a scanner to download', { security: { tirith_enabled: true } }, 'security.tirith_enabled must stay false'],
    ['no session snapshots', { sessions: { write_json_snapshots: false } }, 'sessions.write_json_snapshots must stay true'],
    ['no sessions at all', { sessions: null }, 'sessions.write_json_snapshots must stay true'],
  ])('a tree that asks for %s is refused, with a model bound and without', (_what, data, message) => {
    const mine = [entry('mine', 'config', { data })]
    for (const render of [() => renderTree(adapter, mine), () => renderTree(adapter, mine, model)])
      expect(render).toThrow(expect.objectContaining({ code: 'setting_refused', message: expect.stringContaining(message) }))
  })

  it('a prompt that begins like an option is still a prompt', () => {
    const words = ['--help', 'say -x'].map((prompt) => adapter.launch({ prompt }, '/root').argv.at(-1))
    expect(words).toEqual([' --help', 'say -x'])
  })

  it('the command it ships asks the wrapper, and tells that there is none', () => {
    const files = renderTree(adapter, adapter.shipped?.requests ?? [])
    expect(files['hermes-commands/svc/SKILL.md']).toMatch(
      /^---\nname: svc\n[^]*SVC_WRAPPER`. If it is empty[^]*"\$SVC_WRAPPER" harness "<request>" --wait/,
    )
  })

  it('a session is read as what is known of it, then its messages; an index among them is none', async () => {
    const root = temporaryFolder()
    await leave(root, {
      'hermes/sessions/session_1.json': JSON.stringify({
        session_id: '1',
        model: 'm',
        messages: [
          { role: 'user', content: 'hello' },
          { role: 'assistant', content: 'hi' },
        ],
      }),
      'hermes/sessions/sessions.json': '{"entries":{}}',
      'hermes/sessions/1.jsonl': '{"role":"user"}\n',
    })
    expect(await adapter.readTrajectory(root)).toEqual([
      { type: 'session', session_id: '1', model: 'm' },
      { type: 'message', role: 'user', content: 'hello' },
      { type: 'message', role: 'assistant', content: 'hi' },
    ])
  })

  it.each(['{"messages":[', '[]', '{"messages":["hello"]}'])('a document that is no session is no trajectory: %s', async (text) => {
    const root = temporaryFolder()
    await leave(root, { 'hermes/sessions/session_1.json': text })
    await expect(adapter.readTrajectory(root)).rejects.toThrow()
  })
})

async function leave(root: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}
