/** DeepSeek Harness: what a tree becomes, what is refused, how it is started and what it leaves. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { adapterConformance } from '../../../conformance/index.ts'
import type { Entry, Files, JsonObject, ModelAddress, ModelApi } from '../../../src/contract/index.ts'
import { renderTree } from '../../../src/harness/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import plugin from './index.ts'

const adapter = plugin.plugin

const entry = (id: string, name: string, config: JsonObject): Entry => ({ id, name, config })

const tree: readonly Entry[] = [
  entry('less', 'config', { data: { 'tool-web': { disabled: true }, 'tool-todo': { config: { allowParallelInProgress: false } } } }),
  entry('brief', 'rules', { text: '# Rules\n\nAnswer in one line.' }),
  entry('honest', 'rules', { text: 'Say when you do not know.' }),
  entry('review', 'agent_command', { name: 'review', text: 'Review the last change.' }),
  entry('fix', 'agent_command', { name: 'fix', text: '---\nname: fix\ndescription: Fix what fails\n---\nRun the tests first.' }),
  entry('counting', 'skill', { name: 'counting', text: '# Count aloud: "one", two\n\nOne, two, three.' }),
  entry('greeter', 'code_extension', { name: 'greeter', code: "export const name = 'greeter'\nexport function apply() {}" }),
]
const model = (api: ModelApi): ModelAddress => ({ url: 'http://127.0.0.1:8900', model: 'some:model', api, apiKey: 'the-key' })

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

describe('dsh', () => {
  adapterConformance({ describe, it, adapter, entries: tree })

  it('a tree with an entry of every kind becomes the files that 0.1.0-rc.8 was seen to read, though no published version runs with the parts that npm gives it today', async () => {
    await expect(asText(renderTree(adapter, tree))).toMatchFileSnapshot('./golden.txt')
  })

  it.each(['openai', 'responses', 'anthropic'] as const)('a model that speaks %s is a route of its own, and the default', async (api) => {
    const files = changed(renderTree(adapter, tree), renderTree(adapter, tree, model(api)))
    await expect(asText(files)).toMatchFileSnapshot(`./golden-${api}.txt`)
  })

  it('a model without a key gets the word for none, and one without a name is refused', () => {
    expect(renderTree(adapter, [], { ...model('openai'), apiKey: null })['dsh/.env']).toBe('SVC_DSH_MODEL_KEY="svc-no-token"\n')
    expect(() => renderTree(adapter, [], { ...model('openai'), model: null })).toThrow('set inference.upstream_model')
  })

  it('text that looks like an expression stays text: nothing of a config entry is run', () => {
    const files = renderTree(adapter, [
      entry('sly', 'config', { data: { persona: { config: { text: '!!js process.exit()', '!!js x': 1 } } } }),
    ])
    expect(files['dsh/cordis.patch.yml']).toContain('text: "!!js process.exit()"')
    expect(files['dsh/cordis.patch.yml']).toContain('"!!js x": 1')
  })

  it.each<readonly [string, JsonObject, string]>([
    ['another model', { data: { 'agent-default-model': { config: {} } } }, 'config.data.agent-default-model is set by the service'],
    ['another route', { data: { 'llm-pi-ai': { disabled: true } } }, 'config.data.llm-pi-ai is set by the service'],
    ['a log that is packed', { data: { 'session-persistence-jsonl': { config: {} } } }, 'session-persistence-jsonl is set by the service'],
    ['telemetry', { data: { 'session-telemetry-otel': { disabled: false } } }, 'session-telemetry-otel is set by the service'],
    ['titles', { data: { 'session-title-llm': { disabled: false } } }, 'session-title-llm is set by the service'],
    ['a variable', { target: 'env', data: { HTTPS_PROXY: 'http://elsewhere' } }, 'config.target env is the service'],
    ['other code under a name', { data: { hmr: { name: './elsewhere.mjs' } } }, 'config.data.hmr must be an object of config, disabled'],
    ['rows of its own', { data: { hmr: { insert: [] } } }, 'config.data.hmr must be an object of config, disabled'],
    ['config that is a list', { data: { hmr: { config: [] } } }, 'config.data.hmr must be an object of config, disabled'],
    ['a switch that is text', { data: { hmr: { disabled: 'yes' } } }, 'config.data.hmr must be an object of config, disabled'],
    ['a row that is none', { data: { hmr: null } }, 'config.data.hmr must be an object of config, disabled'],
  ])('a tree that asks for %s is refused, with a model bound and without', (_what, config, message) => {
    const mine = [entry('mine', 'config', config)]
    for (const render of [() => renderTree(adapter, mine), () => renderTree(adapter, mine, model('openai'))])
      expect(render).toThrow(expect.objectContaining({ code: 'setting_refused', message: expect.stringContaining(message) }))
  })

  it.each(['Count', 'count_up', 'count.up', 'count--up', '-count'])(
    'a skill or command named %s, which it would leave out, is refused',
    (name) => {
      for (const kind of ['skill', 'agent_command'])
        expect(() => renderTree(adapter, [entry('mine', kind, { name, text: 'x' })])).toThrow('mine: config.name must be small letters')
    },
  )

  it('the command it ships asks the wrapper, tells that there is none, and is for a person alone to call', () => {
    const files = renderTree(adapter, adapter.shipped?.requests ?? [])
    expect(files['dsh-agents/skills/svc/SKILL.md']).toMatch(
      /^---\ndisable-model-invocation: true\nname: svc\n[^]*SVC_WRAPPER`. If it is empty[^]*"\$SVC_WRAPPER" harness "<request>" --wait/,
    )
  })

  it('a command that says itself who may call it keeps its word, and one that speaks of it in its text alone is marked', () => {
    const open = entry('open', 'agent_command', { name: 'open', text: '---\nname: open\ndisable-model-invocation: false\n---\nx' })
    const talk = entry('talk', 'agent_command', { name: 'talk', text: 'x\ndisable-model-invocation: false' })
    const files = renderTree(adapter, [open, talk])
    expect(files['dsh-agents/skills/open/SKILL.md']).not.toContain('disable-model-invocation: true')
    expect(files['dsh-agents/skills/talk/SKILL.md']).toContain('---\ndisable-model-invocation: true\n')
  })

  it('the session log is read in the order of the paths, but for half a last line', async () => {
    const root = temporaryFolder()
    await leave(root, {
      'dsh/sessions/--work--/session-b/session.jsonl': '{"type":"session","version":0,"id":"b"}\n{"type":"turn/st',
      'dsh/sessions/--work--/session-a/session.jsonl':
        '{"type":"session","version":0,"id":"a"}\n{"type":"turn/start","seq":0,"time":1,"data":{"turn":1}}\n',
    })
    expect(await adapter.readTrajectory(root)).toEqual([
      { type: 'session', version: 0, id: 'a' },
      { type: 'turn/start', seq: 0, time: 1, data: { turn: 1 } },
      { type: 'session', version: 0, id: 'b' },
    ])
  })
})

async function leave(root: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}
