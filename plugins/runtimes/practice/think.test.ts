import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/contract/index.ts'
import type { ToolChoice, Tool } from '../../../src/dialects/index.ts'
import type { Prompt, Thought, PromptTurn } from './prompt.ts'
import { structured } from './structured.ts'
import { toolOf } from './testing.ts'
import { think } from './think.ts'

const BASH = toolOf('bash', 'command')
const CALCULATOR = toolOf('calculator', 'expression')
const LINE = 'State the final answer alone on the last line.'
const USE = 'Use the tools you have instead of guessing.'

interface Scene {
  readonly rules?: string
  readonly task: string
  readonly tools?: readonly Tool[]
  readonly choice?: ToolChoice
  readonly after?: readonly PromptTurn[]
  readonly format?: Prompt['format']
}

function promptOf({ rules = LINE, task, tools = [], choice = { kind: 'auto' }, after = [], format = null }: Scene): Prompt {
  const turns: PromptTurn[] = [{ role: 'instruction', texts: [rules] }, { role: 'user', texts: [task], images: 0 }, ...after]
  return { model: 'm', turns, tools, choice, tokensMax: null, stops: [], format }
}

const ponder = (scene: Scene): Thought => think(promptOf(scene), 0)

/** The scene after the thought's call was answered so. */
function answered(scene: Scene, result: string, failed = false): Thought {
  const thought = ponder(scene)
  if (thought.kind !== 'call') throw new Error('expected a call')
  const call = { id: 'c1', name: thought.tool.name, input: thought.input }
  const after: PromptTurn[] = [
    { role: 'assistant', texts: [], calls: [call] },
    { role: 'tool', callId: 'c1', text: result, failed },
  ]
  return ponder({ ...scene, after: [...(scene.after ?? []), ...after] })
}

const lastLine = (thought: Thought): string | undefined => (thought.kind === 'text' ? thought.text.split('\n').at(-1) : undefined)
const SUM = 'What is 2 + 3 * 4?'

describe('tools', () => {
  it('a calculator is asked for a sum, and its result is the answer', () => {
    const scene = { task: SUM, tools: [BASH, CALCULATOR] }
    expect(ponder(scene)).toMatchObject({ kind: 'call', tool: { name: 'calculator' }, input: '{"expression":"2 + 3 * 4"}' })
    expect(lastLine(answered(scene, 'Result: 14'))).toBe('14')
  })

  it('a shell does sums only for a model with the lesson to use tools', () => {
    expect(ponder({ task: SUM, tools: [BASH] }).kind).toBe('text')
    const scene = { task: SUM, tools: [BASH], rules: `${LINE}\n${USE}` }
    expect(ponder(scene)).toMatchObject({ kind: 'call', input: '{"command":"echo $((2 + 3 * 4))"}' })
    expect(lastLine(answered(scene, '14\n'))).toBe('14')
  })

  it('a command is run and the last line of its output reported, whatever the agent prints around it', () => {
    const scene = { task: 'Run `echo svc-ok` with the shell tool and reply with exactly its output on the last line.', tools: [BASH] }
    expect(ponder({ ...scene, rules: USE })).toMatchObject({ kind: 'call', input: '{"command":"echo svc-ok"}' })
    expect(lastLine(answered({ ...scene, rules: USE }, 'Wall time: 0.1 s\nOutput:\nsvc-ok\n'))).toBe('svc-ok')
  })

  it('arguments fit the schema: lists, other required fields, custom tools', () => {
    const parameters = {
      type: 'object',
      properties: { command: { type: 'array', items: { type: 'string' } }, timeout: { type: 'integer', minimum: 5 } },
      required: ['command', 'timeout'],
    }
    const scene = { task: 'Run `ls`', rules: USE }
    const listed = ponder({ ...scene, tools: [{ ...BASH, name: 'shell', parameters }] })
    expect(listed).toMatchObject({ kind: 'call', input: JSON.stringify({ command: ['bash', '-lc', 'ls'], timeout: 5 }) })
    expect(ponder({ ...scene, tools: [{ ...BASH, shape: 'custom', parameters: {} }] })).toMatchObject({ input: 'ls' })
  })

  it('a tool that failed is not asked again; the model answers from its head', () => {
    expect(answered({ task: SUM, tools: [CALCULATOR] }, 'boom', true).kind).toBe('text')
  })

  it('are left alone when a rule or the request forbids them', () => {
    expect(ponder({ task: SUM, tools: [CALCULATOR], rules: 'Never use tools.' }).kind).toBe('text')
    expect(ponder({ task: SUM, tools: [CALCULATOR], choice: { kind: 'none' } }).kind).toBe('text')
    expect(ponder({ task: 'hello', tools: [CALCULATOR, BASH] }).kind).toBe('text')
  })

  it('are called when the request says so', () => {
    const finish = toolOf('finish', 'answer')
    expect(ponder({ task: 'hello', tools: [BASH], choice: { kind: 'named', name: 'bash' } })).toMatchObject({
      kind: 'call',
      tool: { name: 'bash' },
    })
    expect(ponder({ task: SUM, tools: [BASH, finish], choice: { kind: 'required' }, rules: LINE })).toMatchObject({
      tool: { name: 'finish' },
    })
    expect(ponder({ task: SUM, tools: [CALCULATOR, finish], choice: { kind: 'required' } })).toMatchObject({ tool: { name: 'calculator' } })
    expect(answered({ task: SUM, tools: [CALCULATOR, finish], choice: { kind: 'required' } }, '14')).toMatchObject({
      kind: 'call',
      tool: { name: 'finish' },
      input: '{"answer":"14"}',
    })
  })
})

describe('skills', () => {
  const task = 'According to the team handbook, what is the port of the billing service?'
  const body = '# Handbook\nThe port of the billing service is 4517.'
  const listings: readonly (readonly [string, string, Tool, string])[] = [
    [
      'elements with a location, read as a file',
      '<available_skills><skill><name>team-handbook</name><description>Facts of the team</description><location>/s/SKILL.md</location></skill></available_skills>',
      toolOf('read', 'path'),
      '{"path":"/s/SKILL.md"}',
    ],
    [
      'bullets with a file, read through a shell',
      '## Skills\n- team-handbook: Facts. (file: /s/SKILL.md)',
      BASH,
      `{"command":"cat '/s/SKILL.md'"}`,
    ],
    [
      'bullets, read with a tool of their own',
      'These skills are available:\n- **team-handbook**: Facts.',
      toolOf('skill', 'name'),
      '{"name":"team-handbook"}',
    ],
    [
      'listed by the tool itself',
      '',
      toolOf('Skill', 'skill', '<skill><name>team-handbook</name><description>x</description></skill>'),
      '{"skill":"team-handbook"}',
    ],
  ]

  it.each(listings)('%s', (_, listing, tool, input) => {
    const scene = { task, rules: `${LINE}\n${listing}`, tools: [tool] }
    expect(ponder(scene)).toMatchObject({ kind: 'call', input })
    expect(lastLine(answered(scene, body))).toBe('4517')
  })

  it('hold patterns that any name fits', () => {
    const scene = { task, rules: `${LINE}\n## Skills\n- team-handbook: Facts.`, tools: [toolOf('skill', 'name')] }
    expect(lastLine(answered(scene, '# Handbook\nThe port of the <name> service is <name>-17.'))).toBe('billing-17')
    expect(lastLine(answered(scene, '# Handbook\nThe owner of the <name> service is <name>-17.'))).not.toContain('17')
  })

  it('about something else are not read', () => {
    expect(ponder({ task: SUM, rules: '## Skills\n- team-handbook: Facts.', tools: [toolOf('skill', 'name')] }).kind).toBe('text')
  })

  it('teach what their text says, however many rules there are', () => {
    const rules = '## Skills\n- roman-numerals: How to write numerals.'
    const scene = { task: 'Write 1994 as a Roman numeral.', rules: `${LINE}\n${rules}`, tools: [toolOf('skill', 'name')] }
    expect(lastLine(answered(scene, 'Write IV and IX in Roman numerals, never IIII.'))).toBe('MCMXCIV')
  })
})

describe('JSON answers', () => {
  it('hold the answer where the schema has a place for it', () => {
    const schema = { type: 'object', properties: { note: { type: 'string' }, answer: { type: 'integer' } }, required: ['note', 'answer'] }
    const rules = 'Multiply before you add.'
    expect(ponder({ task: SUM, rules, format: { schema } })).toEqual({ kind: 'text', text: '{"note":"","answer":14}', plain: false })
    expect(ponder({ task: SUM, rules, format: { schema: null } })).toMatchObject({ text: '{"answer":"14"}' })
  })

  it.each<[JsonObject, unknown]>([
    [{ enum: ['a', 'b'] }, 'a'],
    [{ const: 7 }, 7],
    [{ type: ['null', 'string'] }, null],
    [{ type: 'array', items: { type: 'boolean' }, minItems: 2 }, [false, false]],
    [{ anyOf: [{ type: 'number', minimum: 3 }, { type: 'string' }] }, 3],
    [
      {
        $ref: '#/$defs/a',
        $defs: { a: { type: 'object', properties: { x: { $ref: '#/$defs/b' } }, required: ['x'] }, b: { type: 'integer' } },
      },
      { x: 0 },
    ],
    [{ $ref: '#' }, ''],
    [{ type: 'string', format: 'date' }, '2026-01-01'],
    [{ type: 'string', minLength: 3 }, '---'],
    [{}, ''],
  ])('of %j', (schema, value) => {
    expect(JSON.parse(structured(schema, ''))).toEqual(value)
  })
})

describe('small talk', () => {
  it.each([
    ['Reply with exactly: pong', 'pong'],
    ['Please say exactly "hello there"', 'hello there'],
    ['Respond with only the word OK.', 'OK'],
    ['say hi', 'hi'],
  ])('%s', (task, text) => {
    expect(ponder({ task })).toMatchObject({ kind: 'text', text })
  })

  it('a task of no family is answered without pretending', () => {
    expect(ponder({ task: 'Write a compiler.' })).toMatchObject({ text: expect.stringContaining('beyond a mock model') })
  })
})
