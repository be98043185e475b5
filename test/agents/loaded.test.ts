/**
 * Random trees, served and installed: what each real agent says that it loaded is what was judged. Its settings by path and value, its skills and
 * commands by name and description, its rules by file, and nothing beside them. `FORMAT_TREES` is the number of further trees for each agent.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import claude from '../../plugins/adapters/claude/index.ts'
import codex from '../../plugins/adapters/codex/index.ts'
import opencode from '../../plugins/adapters/opencode/index.ts'
import pi from '../../plugins/adapters/pi/index.ts'
import { isObject, type Adapter, type Entry, type Files, type Json, type JsonObject, type ModelApi } from '../../src/contract/index.ts'
import { merged, renderTree } from '../../src/harness/index.ts'
import { headIn } from '../../src/harness/support/front-matter.ts'
import { LOADED, type Loaded } from './support/loaded.ts'
import { judgedSettings, randomTree, SETTINGS } from './support/random-tree.ts'
import { MARKED, openAgentWorld, type AgentWorld } from './support/world.ts'

const TREES = Number(process.env['FORMAT_TREES'] ?? 0)
/** opencode was used here before: it would install packages for plug-ins at its first start. */
const USED_BEFORE = {
  '.config/opencode/package-lock.json': '{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}',
  '.config/opencode/node_modules/.keep': '',
}

const AGENTS: readonly { readonly adapter: Adapter; readonly api: ModelApi; readonly home?: Files }[] = [
  { adapter: claude.plugin, api: 'anthropic' },
  { adapter: codex.plugin, api: 'responses' },
  { adapter: opencode.plugin, api: 'openai', home: USED_BEFORE },
  { adapter: pi.plugin, api: 'openai' },
]

const HEAD = '---\nname: smuggled\ndescription: smuggled\n---\nsmuggled'

/** What each agent would load from beside the files of the release. */
const SMUGGLED: Readonly<Record<string, Files>> = {
  claude: {
    'claude/settings.local.json': '{"permissions":{"allow":["Bash(smuggled)"]}}',
    'claude/commands/smuggled.md': HEAD,
    'claude/skills/smuggled/SKILL.md': HEAD,
    'claude/agents/smuggled.md': HEAD,
    'claude/rules/smuggled.md': 'smuggled',
    'claude/CLAUDE.local.md': 'smuggled',
  },
  codex: {
    'codex/AGENTS.override.md': 'smuggled',
    'codex/skills/smuggled/SKILL.md': HEAD,
    'codex/prompts/smuggled.md': HEAD,
  },
  opencode: {
    'opencode/opencode.jsonc': '{ "instructions": ["smuggled.md"], /* smuggled */ }',
    'opencode/config.json': '{"instructions":["smuggled.md"]}',
    'opencode/agents/smuggled.md': HEAD,
    'opencode/commands/smuggled.md': HEAD,
    'opencode/skills/smuggled/SKILL.md': HEAD,
  },
  pi: {
    'pi-agent/prompts/smuggled.md': HEAD,
    'pi-agent/skills/smuggled/SKILL.md': HEAD,
    'pi-agent/APPEND_SYSTEM.md': 'smuggled',
  },
}

describe.each(AGENTS)('$adapter.name', ({ adapter, api, home }) => {
  const [first = []] = fc.sample(randomTree(adapter), { numRuns: 1, seed: inject('seed') })
  const shipped = [...(adapter.shipped?.version_check ?? []), ...(adapter.shipped?.requests ?? [])]
  let world: AgentWorld
  beforeAll(async () => {
    world = await openAgentWorld({ adapter: adapter.name, api, seed: first, ...(home !== undefined && { home }) })
  })
  afterAll(() => world?.close())

  it('run by its wrapper, loads what was published, and nothing that lies beside it', async () => {
    const root = join(world.home.work, 'svc-harness')
    write(root, SMUGGLED[adapter.name] ?? {})
    const wrapper = join(world.home.folder, '.local/bin', `svc-${adapter.name}`)
    expectSame(adapter, api, [...MARKED, ...first, ...shipped], await ask(adapter, world, root, wrapper))
  })

  it.runIf(TREES > 0)('without its wrapper, loads what lies beside the tree: this is what the comparison would find', async () => {
    const { settings, named, rules, agents } = await ask(adapter, world, join(world.home.work, 'svc-harness'))
    expect(JSON.stringify([settings, named, rules, agents])).toMatch(/smuggled|AGENTS\.override/)
  })

  it.runIf(TREES > 0)('loads what other trees render to, and nothing beside it', { timeout: 1_200_000 }, async () => {
    const root = join(world.home.folder, 'other-tree')
    await fc.assert(
      fc.asyncProperty(randomTree(adapter), async (entries) => {
        rmSync(root, { recursive: true, force: true })
        write(root, renderTree(adapter, entries, modelOf(api)))
        expectSame(adapter, api, entries, await ask(adapter, world, root))
      }),
      { numRuns: TREES, interruptAfterTimeLimit: 900_000 },
    )
  })

  it('is compared by every setting that its adapter lists', () => {
    const compared = Object.keys(SETTINGS[adapter.name] ?? {}).map((path) => `primary.${path.replaceAll('|', '.')}`)
    const listed = Object.keys(adapter.powers?.settings ?? {}).filter((path) => path !== 'primary.hooks')
    expect(listed.filter((path) => !compared.some((other) => other === path || other.startsWith(`${path}.`)))).toEqual([])
  })
})

const modelOf = (api: ModelApi) => ({ api, url: 'http://127.0.0.1:9', model: 'm', apiKey: 'key' })

function write(root: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
}

function ask({ name, client }: Adapter, { program: vendor, home }: AgentWorld, root: string, program = vendor): Promise<Loaded> {
  const variables = Object.entries({ ...client?.env_defaults, ...client?.env }).map(([key, value]) => [
    key,
    value.replaceAll('{root}', () => root),
  ])
  const PATH = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`
  const loaded = LOADED[name]
  if (loaded === undefined) throw new Error(`nobody knows how to ask ${name}`)
  return loaded({ program, vendor, work: home.work, env: { HOME: home.folder, PATH, ...Object.fromEntries(variables) } })
}

function expectSame(adapter: Adapter, api: ModelApi, entries: readonly Entry[], loaded: Loaded): void {
  expect(Object.fromEntries(Object.entries(loaded.named).map(([name, about]) => [name, folded(about)]))).toEqual(aboutOf(adapter, entries))
  if (loaded.rules !== undefined) expect(loaded.rules).toEqual([expect.stringMatching(new RegExp(`/${adapter.layout.rules}$`))])
  expect(loaded.agents ?? []).toEqual([])
  const judged = judgedSettings(entries)
  const served = judgedSettings([...boundTo(adapter, api)].map((data): Entry => ({ id: 'x', name: 'config', config: { data } })))
  const expected = asLoaded(adapter, merged(merged(adapter.layout.config['primary']?.defaults ?? {}, judged), served))
  expect(withoutBinding(loaded.settings, served)).toEqual(withoutBinding(expected, served))
}

function* boundTo({ bindings }: Adapter, api: ModelApi): Generator<JsonObject> {
  for (const { target, data } of bindings[api]?.(modelOf(api)) ?? []) if (target === 'primary') yield data
}

/** The address and the key are those of the installation. */
function withoutBinding(settings: JsonObject, binding: JsonObject): JsonObject {
  const kept = Object.entries(settings).flatMap(([name, value]): [string, Json][] => {
    const bound = Object.hasOwn(binding, name) ? binding[name] : undefined
    if (bound === undefined) return [[name, value]]
    return isObject(bound) && isObject(value) ? [[name, withoutBinding(value, bound)]] : []
  })
  return Object.fromEntries(kept)
}

/** The description of every skill and command, from the front matter that was rendered. */
function aboutOf(adapter: Adapter, entries: readonly Entry[]): Readonly<Record<string, string>> {
  const files = renderTree(adapter, entries)
  const called = entries.filter(({ name: kind }) => kind === 'agent_command' || kind === 'skill')
  return Object.fromEntries(
    called.map(({ name: kind, config }) => {
      const name = textIn(config['name'])
      const template = adapter.layout.named[kind === 'skill' ? 'skill' : 'agent_command'] ?? ''
      const { description } = headIn(files[template.replaceAll('{name}', () => name)] ?? '') ?? {}
      return [name, folded(textIn(description))]
    }),
  )
}

const textIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

/** Agents show a description on one line, and some as HTML. */
const folded = (about: string): string => about.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll(/\s+/g, ' ').trim()

/** opencode has older names for two settings, and reads each as its newer one; both have the same powers. */
function asLoaded({ name }: Adapter, settings: JsonObject): JsonObject {
  if (name !== 'opencode') return settings
  const { agent } = settings
  const agents = Object.entries(isObject(agent) ? agent : {}).map(([key, value]) => [key, isObject(value) ? renewed(value) : value])
  const { permission, ...others } = renewed(settings)
  const isEmpty = isObject(permission) && Object.keys(permission).length === 0
  return {
    ...others,
    ...(permission !== undefined && !isEmpty && { permission }),
    ...(agents.length > 0 && { agent: Object.fromEntries(agents) }),
  }
}

function renewed(settings: JsonObject): JsonObject {
  const { tools, permission, maxSteps, steps = maxSteps } = settings
  // Two tools are one to it: the later in the file counts.
  const older = Object.entries(isObject(tools) ? tools : {})
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([tool, on]): [string, Json] => [['write', 'patch'].includes(tool) ? 'edit' : tool, on === true ? 'allow' : 'deny'])
  const newer = typeof permission === 'string' ? { '*': permission } : isObject(permission) ? permission : {}
  const both = { ...Object.fromEntries(older), ...newer }
  return { ...settings, ...(Object.keys(both).length > 0 && { permission: both }), ...(steps !== undefined && { steps }) }
}
