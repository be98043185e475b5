/** pi: what a tree becomes, what is refused, how it is started and what it leaves. */
import { describe, expect, it } from 'vitest'
import type { Entry } from '../../../src/contract/index.ts'
import { renderTree } from '../../../src/harness/index.ts'
import { entry, expectSettingRefused, itConforms, trajectoryOf, modelOf, TEXTS } from '../testing/adapter.ts'
import plugin from './index.ts'

const pi = plugin.plugin

const tree: readonly Entry[] = [
  entry('config', 'config', { data: { defaultThinkingLevel: 'low', compaction: { enabled: false } } }),
  ...TEXTS,
  entry('agent_command', 'agent_command', { name: 'review', text: '---\ndescription: Review a change\n---\nReview $1.' }),
  entry('code_extension', 'code_extension', {
    name: 'greeter',
    code: "export default function (pi) {\n  pi.on('agent_start', () => {})\n}",
  }),
]
const keyFor = (apiKey: string | null): string =>
  JSON.parse(renderTree(pi, [], { ...modelOf('openai'), apiKey })['pi-agent/models.json'] ?? '').providers.svc.apiKey
const last = (prompt: string): readonly string[] => pi.launch({ prompt }, '/root').argv.slice(-2)

describe('pi', () => {
  itConforms(pi, tree)

  it('a key is sent as it is, also where pi would read a variable or a command in it', () => {
    expect([keyFor('a$HOME$$b'), keyFor('!date'), keyFor(null)]).toEqual(['a$$HOME$$$$b', '$!date', 'svc-no-token'])
  })

  it.each([
    ['defaultProvider', { defaultProvider: 'other' }],
    ['defaultModel', { defaultModel: 'other' }],
    ['enabledModels', { enabledModels: ['other/*'] }],
    ['httpProxy', { httpProxy: 'http://127.0.0.1:1' }],
    ['packages', { packages: ['npm:other'] }],
    ['extensions', { extensions: ['/elsewhere.ts'] }],
    ['shellPath', { shellPath: './run.sh' }],
    ['shellCommandPrefix', { shellCommandPrefix: 'date;' }],
    ['npmCommand', { npmCommand: ['date'] }],
    ['externalEditor', { externalEditor: 'date' }],
    ['skills', { skills: ['~/skills'] }],
    ['prompts', { prompts: ['/prompts'] }],
    ['themes', { themes: ['../themes'] }],
    ['sessionDir', { sessionDir: '/elsewhere' }],
    ['defaultProjectTrust', { defaultProjectTrust: 'always' }],
    ['cacheWarming', { cacheWarming: 'idle' }],
    ['compaction.other', { compaction: { other: 1 } }],
    ['defaultThinkingLevel', { defaultThinkingLevel: 'most' }],
  ])('an entry that sets %s is refused by name, with its target and without', (field, data) => {
    expectSettingRefused(pi, field, { data })
    expectSettingRefused(pi, field, { data, target: 'primary' })
  })

  it('an entry that names a provider is refused, also one that only adds to ours', () => {
    for (const providers of [{ other: {} }, { svc: { headers: { 'x-other': '1' } } }])
      expectSettingRefused(pi, 'providers', { target: 'models', data: { providers } })
  })

  it('an entry that sets anything else beside the models is refused too', () => {
    expectSettingRefused(pi, 'other', { target: 'models', data: { other: 1 } })
  })

  it('what is shipped renders beside a tree as it is written, and is free of what the service refuses in an extension', () => {
    const shipped = [...(pi.shipped?.version_check ?? []), ...(pi.shipped?.requests ?? [])]
    const files = renderTree(pi, [...tree, ...shipped])
    for (const path of ['extensions/svc-version-check.ts', 'extensions/svc-requests.ts'])
      expect(files[`pi-agent/${path}`]).not.toMatch(/console\.|process\.std(?:out|err)/)
    expect(files['pi-agent/skills/svc-pi-extension-api/SKILL.md']).toMatch(/^---\nname: "svc-pi-extension-api"\n/)
  })

  it('a prompt is a message, whatever it begins with', () => {
    expect(last('--version')).toEqual(['--', '--version'])
    expect(last('@notes.md')).toEqual(['--', ' @notes.md'])
  })

  it('an episode keeps to its folder and calls nothing but the model', () => {
    expect(pi.launch({ prompt: 'x' }, '/root').env).toEqual({
      PI_CODING_AGENT_DIR: '/root/pi-agent',
      PI_CODING_AGENT_SESSION_DIR: '/root/sessions',
      PI_OFFLINE: '1',
      PI_SKIP_VERSION_CHECK: '1',
      PI_TELEMETRY: '0',
    })
  })

  it('its trajectory is every line of its session log, but for a last one that was cut short', async () => {
    const events = [
      { type: 'session', version: 3, id: 's', cwd: '/work' },
      { type: 'message', id: 'a', parentId: null, message: { role: 'user', content: [{ type: 'text', text: 'count' }] } },
      { type: 'message', id: 'b', parentId: 'a', message: { role: 'assistant', content: [{ type: 'text', text: '1 2 3' }] } },
    ]
    const log = events.map((event) => JSON.stringify(event)).join('\n')
    expect(await trajectoryOf(pi, { 'sessions/--work--/1_s.jsonl': `${log}\n{"type":"mess` })).toEqual(events)
  })
})
