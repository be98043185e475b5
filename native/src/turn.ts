/** What one turn of an agent knows: its conversation, what it may use, and what it may still spend. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ToolCall, Message, ModelPlace } from './chat.ts'
import { failed, TurnEnded } from './ended.ts'
import { redactor, type Redact, type SessionLog } from './session-log.ts'
import type { Data, TreeSkill, TreeTool, Tree } from './tree.ts'

/** A tool that the agent itself answers, beside those of the tree. */
export interface SelfTool extends Omit<TreeTool, 'code'> {
  run(args: Data, turn: AgentTurn): Promise<string>
}

/** What is the same for a turn and every agent that it asks. */
export interface TurnScene {
  readonly tree: Tree
  readonly model: ModelPlace
  readonly workdir: string
  readonly selfTools: readonly SelfTool[]
  readonly redact: Redact
  readonly signal: AbortSignal
  /** Waits between two attempts. */
  readonly wait: (seconds: number) => Promise<void>
}

type SceneParts = Pick<TurnScene, 'tree' | 'model' | 'workdir' | 'signal'> & Partial<Pick<TurnScene, 'selfTools'>>

export function sceneOf({ signal, model, ...parts }: SceneParts): TurnScene {
  const wait: TurnScene['wait'] = (seconds) => sleep(seconds * 1000, undefined, { signal }).catch(() => signal.throwIfAborted())
  return { selfTools: [], ...parts, model, signal, wait, redact: redactor(model.apiKey) }
}

/** The model that the files of a tree name. Throws when they name none. */
export function boundModel({ model }: Tree): ModelPlace {
  const { baseUrl, apiKey, model: name, contextTokens } = model
  const problem = "the tree names no model (models.json has no base_url): run it by 'svc-native serve', which knows the service"
  if (baseUrl === null) throw failed('LOAD_ERROR', problem)
  return { baseUrl: baseUrl.replace(/(?<!\/)\/+$/, ''), apiKey, model: name, contextTokens, headers: {} }
}

export interface AgentTurn {
  readonly scene: TurnScene
  readonly log: SessionLog
  readonly task: string
  readonly system: string
  readonly tools: readonly Omit<TreeTool, 'code'>[]
  /** How many agents asked for one another to get here; 0 for a person's own turn. */
  readonly depth: number
  readonly budget: Budget
  /** All but the system's, which is made anew for each question. */
  readonly messages: Message[]
  /** Tool calls of the model that are not done yet. */
  calls: readonly ToolCall[]
  lastText: string
  stepsUsed: number
  toolErrors: number
}

type TurnParts = Pick<AgentTurn, 'scene' | 'log' | 'task' | 'system' | 'tools' | 'depth' | 'budget' | 'messages'>

/** Nothing is asked or spent yet. */
export const newTurn = (parts: TurnParts): AgentTurn => ({
  ...parts,
  tools: parts.tools.map(({ name, description, parameters, capabilities }) => ({ name, description, parameters, capabilities })),
  calls: [],
  lastText: '',
  stepsUsed: 0,
  toolErrors: 0,
})

/** A call without a result is refused by most servers. */
export function answerLeftCalls(turn: AgentTurn): void {
  for (const { id } of turn.calls) turn.messages.push({ role: 'tool', tool_call_id: id, content: 'This call was not made.' })
  turn.calls = []
}

/** What an agent spends, those that asked it have spent too. */
export interface Budget {
  steps: number
  toolCalls: number
  readonly parent: Budget | null
}

/** False when there is none left, here or above. */
export function spend(budget: Budget, what: 'steps' | 'toolCalls'): boolean {
  const all = [...chain(budget)]
  if (all.some((each) => each[what] <= 0)) return false
  for (const each of all) each[what] -= 1
  return true
}

function* chain(budget: Budget): Generator<Budget> {
  for (let each: Budget | null = budget; each !== null; each = each.parent) yield each
}

type Source = 'hook' | 'stage' | 'agent' | 'loop'

/** Something that no person and no model said, as if a person had. */
export function tell(turn: AgentTurn, source: Source, content: string): void {
  turn.messages.push({ role: 'user', content })
  turn.log.write('user/message', { source, content })
}

/** What the model reads before anything else. */
export function systemText(words: string, workdir: string, skills: readonly TreeSkill[]): string {
  const place = `Working directory: ${workdir}`
  return [words, place, skillList(skills)].filter((each) => each !== '').join('\n\n')
}

function skillList(skills: readonly TreeSkill[]): string {
  if (skills.length === 0) return ''
  const items = skills.map(({ name, description, location }) =>
    ['<skill>', element('name', name), element('description', description), element('location', location), '</skill>'].join('\n'),
  )
  return `Skills, each a file with instructions. Read the file of one that fits the task before you begin.\n<skills>\n${items.join('\n')}\n</skills>`
}

const element = (tag: string, text: string): string =>
  `<${tag}>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</${tag}>`

/** Ends a turn whose time is over, or whose caller is gone. */
export const requireTime = ({ signal }: TurnScene): void => signal.throwIfAborted()

export const budgetEnd = (what: 'max-steps' | 'max-tool-calls', turn: AgentTurn): TurnEnded =>
  new TurnEnded(
    what,
    `the turn has used up its ${what === 'max-steps' ? `steps (${turn.stepsUsed})` : 'tool calls'} before it came to an end`,
  )
