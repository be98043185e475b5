/** Random trees with odd heads, texts and settings: what each real agent puts before the model is what the service rendered. */
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { isObject, type Entry, type Json, type JsonObject, type ModelApi } from '../../src/contract/index.ts'
import type { Received } from '../support/upstream.ts'
import { isTurn, say } from './support/model.ts'
import { ANSWER, openAgentWorld, type AgentWorld } from './support/world.ts'

interface Compared {
  readonly adapter: string
  readonly api: ModelApi
  readonly prompt: readonly string[]
  readonly command: (name: string) => readonly string[]
  /** A setting whose value reaches the request: as a text, or as fields of it. */
  readonly setting?: { readonly data: JsonObject; readonly text?: string; readonly fields?: JsonObject }
  readonly home?: Readonly<Record<string, string>>
}

const EXEC = ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access']
/** Each format has to quote something of it. */
const PROMPT = 'Odd: "one" \\ \'two\' # three = [four] --- é😀\n[five]\n"six" = 7'
const USED_BEFORE = {
  '.config/opencode/package-lock.json': '{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}',
  '.config/opencode/node_modules/.keep': '',
}

const AGENTS: readonly Compared[] = [
  {
    adapter: 'claude',
    api: 'anthropic',
    prompt: ['-p', 'Say it.'],
    command: (name) => ['-p', `/${name} one two`],
    setting: { data: { env: { CLAUDE_CODE_MAX_OUTPUT_TOKENS: '1234' } }, fields: { max_tokens: 1234 } },
  },
  {
    adapter: 'codex',
    api: 'responses',
    prompt: [...EXEC, 'Say it.'],
    command: (name) => [...EXEC, `$${name} one two`],
    setting: { data: { developer_instructions: PROMPT }, text: PROMPT },
  },
  {
    adapter: 'opencode',
    api: 'openai',
    prompt: ['run', '--title', 'compared', 'Say it.'],
    command: (name) => ['run', '--title', 'compared', '--command', name, 'one', 'two'],
    setting: { data: { agent: { build: { prompt: PROMPT } } }, text: PROMPT },
    home: USED_BEFORE,
  },
  {
    adapter: 'pi',
    api: 'openai',
    prompt: ['-p', 'Say it.'],
    command: (name) => ['-p', `/${name} one two`],
    setting: { data: { defaultTools: ['read', 'bash'] }, fields: { tools: ['read', 'bash'].map((name) => ({ function: { name } })) } },
  },
]

/** What YAML, Markdown or an agent's own parser might take for something else. */
const ODD = [
  'no',
  'one: two',
  '# three',
  '--- four ---',
  '"five"',
  "it's",
  '\\six',
  '{a: b}',
  '[c]',
  '- d',
  '%e',
  '*f',
  '~',
  '0x10',
  '1.10',
  'é😀',
  '| g',
  '> h',
  'null',
]
const words = fc.array(fc.constantFrom(...ODD), { minLength: 3, maxLength: 6 }).map((drawn) => drawn.join(' '))
const named = (kind: string, name: string, head: string, body: string): Entry => ({
  id: name,
  name: kind,
  config: { name, text: `---\nname: ${name}\n${head}\n---\n${body}` },
})

interface RandomTree {
  readonly rules: string
  readonly skills: readonly { readonly name: string; readonly description: string }[]
  readonly body: string
  readonly entries: readonly Entry[]
}

function randomTree(): RandomTree {
  const [drawn = []] = fc.sample(fc.array(words, { minLength: 6, maxLength: 6 }), { numRuns: 1, seed: inject('seed') })
  const [first = '', last = '', called = '', ...about] = drawn
  const rules = `Rule ${first} r1.\n\nLast ${last} r2.`
  const skills = ['odd-one', 'odd-two', 'odd-three'].map((name, index) => ({ name, description: `About ${about[index] ?? ''} ${name}` }))
  const heads = skills.map(({ description }, index) =>
    index === 0
      ? `description: ${JSON.stringify(description)}`
      : index === 1
        ? `'description': >-\n  ${description}`
        : `description: |-\n  ${description}`,
  )
  const body = `Command ${called} c1`
  return {
    rules,
    skills,
    body,
    entries: [
      { id: 'odd-rules', name: 'rules', config: { text: rules } },
      ...skills.map(({ name }, index) => named('skill', name, heads[index] ?? '', `Skill ${name}`)),
      named('agent_command', 'odd-command', 'description: "Runs --- it: # now"', body),
    ],
  }
}

describe.each(AGENTS)('$adapter', ({ adapter, api, prompt, command, setting, home }) => {
  const tree = randomTree()
  let world: AgentWorld
  beforeAll(async () => {
    const settings: Entry[] = setting === undefined ? [] : [{ id: 'odd-setting', name: 'config', config: { data: setting.data } }]
    world = await openAgentWorld({ adapter, api, seed: [...tree.entries, ...settings], ...(home !== undefined && { home }) })
  })
  afterAll(() => world?.close())

  it('puts the rules, each skill by its name and description, and the setting before the model as they were rendered, and no text of a skill or command', async () => {
    const turn = (await world.session(prompt, say(ANSWER))).find(isTurn)
    const text = textOf(turn)
    expect(text).toContain(tree.rules)
    for (const { name, description } of tree.skills) {
      expect(text).toContain(description)
      expect(text).toContain(name)
    }
    for (const { name } of tree.skills) expect(text).not.toContain(`Skill ${name}`)
    expect(text).not.toContain(tree.body)
    expect(text).toContain(setting?.text ?? '')
    expect(bodyOf(turn)).toMatchObject(setting?.fields ?? {})
  })

  it('puts the text of a command before the model as it was rendered', async () => {
    const asked = await world.session(command('odd-command'), say(ANSWER))
    expect(asked.map(textOf).join('\n')).toContain(tree.body)
  })
})

function bodyOf(received: Received | undefined): Json {
  try {
    return JSON.parse(received?.body.toString() ?? 'null')
  } catch {
    return null
  }
}

/** Every text of a request; some agents write them into XML. */
const textOf = (received: Received | undefined): string =>
  stringsIn(bodyOf(received))
    .join('\n')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll(/&apos;|&#39;/g, "'")
    .replaceAll('&amp;', '&')

function stringsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap((item: Json) => stringsIn(item))
  return isObject(value) ? Object.values(value).flatMap(stringsIn) : []
}
