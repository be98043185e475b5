/** What one turn of an agent knows: its conversation, what it may use, and what it may still spend. */
import type { ToolCall, Message, ModelPlace } from './chat.ts'
import { TurnEnded } from './ended.ts'
import type { Redact, SessionLog } from './session-log.ts'
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
    [
      '<skill>',
      `<name>${escaped(name)}</name>`,
      `<description>${escaped(description)}</description>`,
      `<location>${escaped(location)}</location>`,
      '</skill>',
    ].join('\n'),
  )
  return `Skills, each a file with instructions. Read the file of one that fits the task before you begin.\n<skills>\n${items.join('\n')}\n</skills>`
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Ends a turn whose time is over, or whose caller is gone. */
export const requireTime = ({ signal }: TurnScene): void => signal.throwIfAborted()

export const budgetEnd = (what: 'max-steps' | 'max-tool-calls', turn: AgentTurn): TurnEnded =>
  new TurnEnded(
    what,
    `the turn has used up its ${what === 'max-steps' ? `steps (${turn.stepsUsed})` : 'tool calls'} before it came to an end`,
  )
