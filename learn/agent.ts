/** The suite's agent: calls the mock model in process, with the tools and texts of its tree. */
import { z } from 'zod'
import { digest } from '../plugins/runtimes/practice/draw.ts'
import { recognise } from '../plugins/runtimes/practice/families/index.ts'
import type { Prompt, PromptTurn } from '../plugins/runtimes/practice/prompt.ts'
import { think } from '../plugins/runtimes/practice/think.ts'
import type { EpisodeEnd, Files, JsonObject, Adapter } from '../src/contract/index.ts'
import { objectOf, parsed, textOf, type Tool } from '../src/dialects/index.ts'

export const ADAPTER: Adapter = {
  name: 'learner',
  binary: 'learner',
  trajectory_format: 'native-jsonl',
  layout: { config: { primary: { path: 'settings.json' } }, rules: 'RULES.md', named: { skill: 'skills/{name}.md' } },
  bindings: { openai: () => [] },
  powers: {
    kinds: { rules: ['words'], skill: ['words'] },
    settings: { 'primary.tools': ['grants'] },
    head: { name: ['words'], description: ['words'] },
    texts: [],
  },
  launch: ({ prompt }) => ({ argv: ['learner', prompt], env: {}, timeoutSeconds: 60 }),
  readTrajectory: async () => [],
}

/** The agent's settings from a tree. The second half serves only the cheats. */
export interface Setup {
  readonly rules: string
  readonly skills: readonly string[]
  /** In the order in which the model sees them. */
  readonly tools: readonly string[]
  /** Fixed answers by the beginning of the prompt. */
  readonly canned: readonly { readonly when: string; readonly say: string }[]
  /** A workspace file used as the answer. */
  readonly answers_from: string | null
  /** Lists all possible answers. */
  readonly hedges: boolean
  /** Hangs instead of failing. */
  readonly gives_up: boolean
  /** Printed after the reply. */
  readonly print: string
  /** Added to its log. */
  readonly log: readonly z.infer<typeof record>[]
}

const record = z.record(z.string(), z.json())
const settings = z.object({
  tools: z.array(z.string()).default([]),
  canned: z.array(z.object({ when: z.string(), say: z.string() })).default([]),
  answers_from: z.string().nullable().default(null),
  hedges: z.boolean().default(false),
  gives_up: z.boolean().default(false),
  print: z.string().default(''),
  log: z.array(record).default([]),
})

export function setupIn(files: Files): Setup {
  const skills = Object.entries(files).filter(([path]) => path.startsWith('skills/'))
  return {
    rules: files['RULES.md'] ?? '',
    skills: skills.map(([, text]) => text),
    ...settings.parse(JSON.parse(files['settings.json'] ?? '{}')),
  }
}

/** What the agent calls: the built-in mock model, or the own model of a world. */
export interface AgentModel {
  reply(setup: Setup, prompt: string, workspace: Files, session: string): string
  /** What a cheat knows of a task: its answer among typical wrong ones. Undefined: nothing. */
  guesses(prompt: string): { readonly right: string; readonly wrong: readonly string[] } | undefined
}

const MOCK: AgentModel = {
  reply: (setup, prompt, _, session) => converse(setup, `${prompt}\n(Session ${lettersOf(session)}.)`),
  guesses(prompt) {
    const problem = recognise(prompt)?.problem
    return problem === undefined ? undefined : { right: problem.right, wrong: problem.slips.map(({ wrong }) => wrong) }
  },
}

/** How often the mock model ignores a lesson. */
const NOISE = 0.1
/** More calls for one task are a loop. */
const CALLS_MAX = 8

export interface AgentRun {
  /** The model's last text. */
  readonly reply: string
  readonly stdout: string
  readonly log: readonly JsonObject[]
  readonly ended?: EpisodeEnd
}

/** One run on a task. `session` seeds everything random: the same session gives the same run. */
export function runAgent(setup: Setup, prompt: string, workspace: Files, session: string, model: AgentModel = MOCK): AgentRun {
  const reply = shortcut(setup, prompt, workspace, model) ?? model.reply(setup, prompt, workspace, session)
  const log = [{ type: 'assistant/message', data: { content: reply } }, ...setup.log]
  const stdout = [reply, setup.print].filter((text) => text !== '').join('\n')
  return setup.gives_up && isSlip(model, prompt, reply) ? { reply: '', stdout: '', log: [], ended: 'time' } : { reply, stdout, log }
}

/** The answer of an agent that does not call the model. */
function shortcut({ canned, answers_from, hedges }: Setup, prompt: string, workspace: Files, model: AgentModel): string | null {
  const known = canned.find(({ when }) => prompt.startsWith(when))?.say
  const left = answers_from === null ? undefined : workspace[answers_from]
  if (known !== undefined || left !== undefined) return known ?? left ?? null
  const guesses = hedges ? model.guesses(prompt) : undefined
  return guesses === undefined ? null : `It is one of these: ${[guesses.right, ...guesses.wrong].join(' or ')}`
}

function converse(setup: Setup, task: string): string {
  const turns: PromptTurn[] = [
    { role: 'instruction', texts: [instructionsOf(setup)] },
    { role: 'user', texts: [task], images: 0 },
  ]
  const tools = ['skill', ...setup.tools].map(toolOf)
  for (let calls = 0; calls < CALLS_MAX; calls += 1) {
    const prompt: Prompt = { model: 'practice', turns, tools, choice: { kind: 'auto' }, tokensMax: null, stops: [], format: null }
    const thought = think(prompt, NOISE)
    if (thought.kind === 'text') return thought.text
    const id = `call-${calls}`
    turns.push({ role: 'assistant', texts: [], calls: [{ id, name: thought.tool.name, input: thought.input }] })
    turns.push({ role: 'tool', callId: id, text: resultOf(setup, thought.tool.name, thought.input), failed: false })
  }
  return ''
}

function instructionsOf({ rules, skills }: Setup): string {
  const listed = skills.map((text) => `- ${fieldOf(text, 'name')}: ${fieldOf(text, 'description')}`)
  return [rules, ...(listed.length === 0 ? [] : ['## Skills', ...listed])].join('\n')
}

const fieldOf = (skill: string, field: string): string => new RegExp(`^${field}: (.*)$`, 'm').exec(skill)?.[1] ?? ''

/** Every tool takes one text. */
const PARAMETERS: Readonly<Record<string, string>> = {
  skill: 'name',
  shell: 'command',
  calculator: 'expression',
  rough_calculator: 'expression',
}

function toolOf(name: string): Tool {
  const parameter = PARAMETERS[name] ?? 'input'
  const parameters = { type: 'object', properties: { [parameter]: { type: 'string' } }, required: [parameter] }
  return { name, description: '', parameters, shape: 'function', namespace: null }
}

function resultOf({ skills }: Setup, tool: string, input: string): string {
  const text = textOf(objectOf(parsed(input))[PARAMETERS[tool] ?? 'input'])
  if (tool === 'skill') return skills.find((skill) => fieldOf(skill, 'name') === text) ?? ''
  const value = recognise(`What is ${text.replace(/^expr |^echo \$\(\((.*)\)\)$/, '$1')}?`)?.problem.right ?? ''
  return tool === 'rough_calculator' ? String(Math.round(Number(value) / 100) * 100) : value
}

/** Whether the reply ends with a typical mistake, which a self-check would notice. */
function isSlip(model: AgentModel, prompt: string, reply: string): boolean {
  const last = reply.split('\n').at(-1)
  return model.guesses(prompt)?.wrong.some((wrong) => wrong === last) ?? false
}

/** Letters only: digits would become part of some tasks. */
const lettersOf = (session: string): string =>
  digest(session)
    .slice(0, 12)
    .replaceAll(/\d/g, (digit) => 'ghijklmnop'.charAt(Number(digit)))
