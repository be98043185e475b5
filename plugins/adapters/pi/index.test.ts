/** pi: what a tree becomes, what is refused, how it is started and what it leaves. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { adapterConformance } from '../../../conformance/index.ts'
import type { Entry, Files, JsonObject, ModelAddress, ModelApi } from '../../../src/contract/index.ts'
import { renderTree } from '../../../src/harness/index.ts'
import plugin from './index.ts'

const pi = plugin.plugin

const entry = (name: string, config: JsonObject, id = name): Entry => ({ id, name, config })
const tree: readonly Entry[] = [
  entry('config', { data: { defaultThinkingLevel: 'low', compaction: { enabled: false } } }),
  entry('rules', { text: '# Rules\n\nAnswer in one line.' }, 'first'),
  entry('rules', { text: 'Say when you do not know.' }, 'second'),
  entry('agent_command', { name: 'review', text: '---\ndescription: Review a change\n---\nReview $1.' }),
  entry('skill', { name: 'count-words', text: '# Count words\n\nRun `wc -w`.' }, 'bare'),
  entry('skill', { name: 'tables', text: '---\nname: tables\ndescription: How tables are written\n---\nUse pipes.' }, 'headed'),
  entry('code_extension', { name: 'greeter', code: "export default function (pi) {\n  pi.on('agent_start', () => {})\n}" }),
]
const model = (api: ModelApi): ModelAddress => ({ url: 'http://127.0.0.1:8900', model: 'some:model', api, apiKey: 'the-key' })
const asText = (files: Files): string =>
  Object.entries(files)
    .map(([path, text]) => `=== ${path}\n${text}`)
    .join('\n')
const config = (data: JsonObject, target = 'primary'): Entry => entry('config', { target, data }, 'mine')
const keyFor = (apiKey: string | null): string =>
  JSON.parse(renderTree(pi, [], { ...model('openai'), apiKey })['pi-agent/models.json'] ?? '').providers.svc.apiKey
const last = (prompt: string): readonly string[] => pi.launch({ prompt }, '/root').argv.slice(-2)

describe('pi', () => {
  adapterConformance({ describe, it, adapter: pi, entries: tree })

  it('a tree with an entry of every kind becomes these files', async () => {
    await expect(asText(renderTree(pi, tree))).toMatchFileSnapshot('./golden.txt')
  })

  it.each([
    ['openai', 'openai-completions', 'http://127.0.0.1:8900/v1'],
    ['responses', 'openai-responses', 'http://127.0.0.1:8900/v1'],
    ['anthropic', 'anthropic-messages', 'http://127.0.0.1:8900'],
  ] as const)('a model that speaks %s is the one provider there is, and the default', (api, spoken, baseUrl) => {
    const files = renderTree(pi, tree, model(api))
    expect(JSON.parse(files['pi-agent/models.json'] ?? '')).toEqual({
      providers: { svc: { api: spoken, apiKey: 'the-key', baseUrl, models: [{ id: 'some:model' }] } },
    })
    expect(JSON.parse(files['pi-agent/settings.json'] ?? '')).toMatchObject({ defaultProvider: 'svc', defaultModel: 'some:model' })
  })

  it('a key is sent as it is, also where pi would read a variable or a command in it', () => {
    expect([keyFor('a$HOME$$b'), keyFor('!date'), keyFor(null)]).toEqual(['a$$HOME$$$$b', '$!date', 'svc-no-token'])
  })

  it('a model without a name is refused, naming the setting that names it', () => {
    expect(() => renderTree(pi, tree, { ...model('openai'), model: null })).toThrow(
      expect.objectContaining({ code: 'model_missing', message: expect.stringContaining('inference.upstream_model') }),
    )
  })

  it.each([
    ['defaultProvider', config({ defaultProvider: 'other' })],
    ['defaultModel', config({ defaultModel: 'other' })],
    ['enabledModels', config({ enabledModels: ['other/*'] })],
    ['httpProxy', config({ httpProxy: 'http://127.0.0.1:1' })],
    ['packages', config({ packages: ['npm:other'] })],
    ['extensions', config({ extensions: ['/elsewhere.ts'] })],
    ['providers', config({ providers: { other: {} } }, 'models')],
    ['providers', config({ providers: { svc: { headers: { 'x-other': '1' } } } }, 'models')],
    ['httpProxy', entry('config', { data: { httpProxy: 'http://127.0.0.1:1' } }, 'mine')],
  ])('an entry that sets %s is refused by name, with a model bound and without', (field, foreign) => {
    const refusal = expect.objectContaining({
      code: 'setting_refused',
      message: expect.stringMatching(`^mine: ${field} .*remove the field$`),
    })
    expect(() => renderTree(pi, [foreign])).toThrow(refusal)
    expect(() => renderTree(pi, [foreign], model('openai'))).toThrow(refusal)
  })

  it.each([
    ['under another name', 'skill', '---\nname: other\ndescription: d\n---\nx', 'must be mine'],
    ['without a description', 'skill', '---\nname: mine\n---\nx', 'needs a description'],
    ['that is never closed', 'skill', '---\nname: mine\ndescription: d\n', 'no YAML mapping'],
    ['that is a list', 'skill', '---\n- mine\n---\nx', 'no YAML mapping'],
    ['that is no YAML', 'agent_command', '---\ndescription: [\n---\nx', 'no YAML mapping'],
  ])('a head %s is refused, since pi would leave the file out', (_, kind, text, reason) => {
    expect(() => renderTree(pi, [entry(kind, { name: 'mine', text })])).toThrow(
      expect.objectContaining({ code: 'bad_front_matter', message: expect.stringContaining(reason) }),
    )
  })

  it('what is shipped renders beside a tree as it is written, and is free of what the service refuses in an extension', () => {
    const shipped = [...(pi.shipped?.version_check ?? []), ...(pi.shipped?.requests ?? [])]
    const files = renderTree(pi, [...tree, ...shipped])
    for (const path of ['extensions/svc-version-check.ts', 'extensions/svc-requests.ts'])
      expect(files[`pi-agent/${path}`]).not.toMatch(/console\.|process\.std(?:out|err)/)
    expect(files['pi-agent/skills/svc-pi-extension-api/SKILL.md']).toMatch(/^---\nname: svc-pi-extension-api\n/)
  })

  it('a prompt is a message, whatever it begins with', () => {
    expect(last('--version')).toEqual(['--', '--version'])
    expect(last('@notes.md')).toEqual(['--', ' @notes.md'])
  })

  it('an episode keeps to its folder and asks nobody but the model', () => {
    expect(pi.launch({ prompt: 'x' }, '/root').env).toEqual({
      PI_CODING_AGENT_DIR: '/root/pi-agent',
      PI_CODING_AGENT_SESSION_DIR: '/root/sessions',
      PI_OFFLINE: '1',
      PI_SKIP_VERSION_CHECK: '1',
      PI_TELEMETRY: '0',
    })
  })
})

describe('the trajectory of pi', () => {
  let root: string
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'pi-'))
    await mkdir(join(root, 'sessions', '--work--'), { recursive: true })
  })
  afterEach(async () => {
    await rm(root, { recursive: true, force: true })
  })

  it('is every line of its session log, but for a last one that was cut short', async () => {
    const events = [
      { type: 'session', version: 3, id: 's', cwd: '/work' },
      { type: 'message', id: 'a', parentId: null, message: { role: 'user', content: [{ type: 'text', text: 'count' }] } },
      {
        type: 'message',
        id: 'b',
        parentId: 'a',
        message: { role: 'assistant', content: [{ type: 'text', text: '1 2 3' }], responseId: 'r' },
      },
    ]
    const log = events.map((event) => JSON.stringify(event)).join('\n')
    await writeFile(join(root, 'sessions', '--work--', '1_s.jsonl'), `${log}\n{"type":"mess`)
    expect(await pi.readTrajectory(root)).toEqual(events)
  })
})
