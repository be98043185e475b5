/** What the model called for is done, call by call, and each gets one result: what the tool answered, or a code and why not. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TurnEnded } from './ended.ts'
import { decide, textsIn } from './hooks.ts'
import { RESULT_CHARACTERS_MAX, RESULT_TAIL_CHARACTERS, TOOL_SECONDS_MAX } from './limits.ts'
import { runModule } from './module.ts'
import { isData } from './fields.ts'
import { field } from '@svc-ai/client/shared'
import type { ToolCall } from './chat.ts'
import type { Data, TreeTool } from './tree.ts'
import { budgetEnd, requireTime, spend, tell, type AgentTurn } from './turn.ts'
import { mkdirpSync } from '@svc-ai/client/folders'

type ToolErrorCode = 'UNKNOWN_TOOL' | 'INVALID_ARGS' | 'TOOL_FAILED' | 'HOOK_DENIED' | 'HOOK_BLOCKED' | 'APPROVAL_REQUIRED'

interface Result {
  readonly content: string
  readonly error: ToolErrorCode | null
}

/** Throws `TurnEnded` when no call is left, or when an agent would have to ask a person. */
export async function makeCalls(turn: AgentTurn, allow: readonly string[] | null): Promise<void> {
  for (let [call] = turn.calls; call !== undefined; [call] = turn.calls) {
    requireTime(turn.scene)
    if (!spend(turn.budget, 'toolCalls')) throw budgetEnd('max-tool-calls', turn)
    turn.log.write('tool/call', { id: call.id, tool: call.name, args: call.args })
    const { result, contexts } = await resultOf(turn, call, allow)
    if (result.error !== null) turn.toolErrors += 1
    const content = kept(turn, turn.scene.redact(result.error === null ? result.content : `${result.error}: ${result.content}`))
    turn.messages.push({ role: 'tool', tool_call_id: call.id, content })
    turn.calls = turn.calls.slice(1)
    turn.log.write('tool/result', { id: call.id, tool: call.name, content, error: result.error })
    for (const text of contexts) tell(turn, 'hook', text)
  }
}

interface Judged {
  readonly result: Result
  readonly contexts: readonly string[]
}

async function resultOf(turn: AgentTurn, { id, name, args }: ToolCall, allow: readonly string[] | null): Promise<Judged> {
  const tool = turn.tools.find((each) => each.name === name)
  if (tool === undefined || allow?.includes(name) === false) return refused('UNKNOWN_TOOL', unknownTool(turn, name, allow))
  const before = await decide(turn, 'pre_execute', { tool: name, args, call_id: id, step: turn.stepsUsed }, 'allow')
  if (before.action === 'deny') return refused('HOOK_DENIED', before.reason || 'a hook does not allow this call')
  if (before.action === 'ask') return approval(turn, before.reason)
  const chosen = isData(before.data['args']) ? before.data['args'] : args
  const problem = argsProblem(tool, chosen)
  if (problem !== null || chosen === null) return refused('INVALID_ARGS', problem ?? '')
  const result = await run(turn, name, chosen)
  const about = { tool: name, args: chosen, call_id: id, content: result.content, error: result.error }
  const after = await decide(turn, 'post_execute', about, 'accept')
  if (after.action === 'block') return refused('HOOK_BLOCKED', after.reason || 'a hook keeps the result back')
  const content = after.data['content']
  return { result: typeof content === 'string' ? { ...result, content } : result, contexts: textsIn(after.data, 'contexts') }
}

const refused = (error: ToolErrorCode, content: string): Judged => ({ result: { content, error }, contexts: [] })

function unknownTool({ tools }: AgentTurn, name: string, allow: readonly string[] | null): string {
  const names = tools.map((tool) => tool.name).filter((each) => allow === null || allow.includes(each))
  return `there is no tool ${JSON.stringify(name.slice(0, 100))} here; there are: ${names.join(', ') || 'none'}`
}

/** No person can be asked: the model gets an error that says so, and a sub-agent passes the question to its caller. */
function approval({ depth }: AgentTurn, reason: string): Judged {
  const words = `a person must approve this call${reason === '' ? '' : `: ${reason}`}`
  if (depth > 0) throw new TurnEnded('ask', words)
  return refused('APPROVAL_REQUIRED', `${words}; go on without it`)
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: isData,
  null: (value) => value === null,
}

/** What must be there, and of what type; the tool itself knows the rest. */
function argsProblem({ parameters }: Pick<TreeTool, 'parameters'>, args: Data | null): string | null {
  if (args === null) return 'the arguments are no JSON object'
  const { required, properties } = parameters
  const missing = (Array.isArray(required) ? required : []).find((name: unknown) => typeof name === 'string' && !Object.hasOwn(args, name))
  if (missing !== undefined) return `${String(missing)} is missing`
  for (const [name, value] of Object.entries(args)) {
    const types = [field(field(properties, name), 'type')].flat().filter((each): each is string => typeof each === 'string')
    const known = types.filter((type) => Object.hasOwn(TYPES, type))
    if (known.length > 0 && !known.some((type) => TYPES[type]?.(value) === true)) return `${name} must be of type ${known.join(' or ')}`
  }
  return null
}

async function run(turn: AgentTurn, name: string, args: Data): Promise<Result> {
  const { scene } = turn
  const own = scene.selfTools.find((each) => each.name === name)
  if (own !== undefined) return ownResult(own.run(args, turn), turn)
  const tool = scene.tree.tools.find((each) => each.name === name)
  if (tool === undefined) return { content: 'the tool is gone', error: 'TOOL_FAILED' }
  const outcome = await runModule({
    task: { kind: 'tool', code: tool.code, args, workdir: scene.workdir },
    capabilities: tool.capabilities,
    workdir: scene.workdir,
    secondsMax: TOOL_SECONDS_MAX,
    signal: scene.signal,
  })
  if (!outcome.ok) return { content: outcome.problem, error: 'TOOL_FAILED' }
  return { content: typeof outcome.value === 'string' ? outcome.value : '', error: null }
}

async function ownResult(answer: Promise<string>, turn: AgentTurn): Promise<Result> {
  try {
    return { content: await answer, error: null }
  } catch (error) {
    requireTime(turn.scene)
    return { content: error instanceof Error ? error.message : String(error), error: 'TOOL_FAILED' }
  }
}

/** Where results lie whole that the model is shown in part. */
const FOLDER = join('.svc', 'tool-output')

/** A long result is shown by its beginning and its end. */
function kept({ scene, log, messages }: AgentTurn, content: string): string {
  if (content.length <= RESULT_CHARACTERS_MAX) return content
  const place = save(scene.workdir, `${log.name}-${messages.length}.txt`, content)
  const head = content.slice(0, RESULT_CHARACTERS_MAX - RESULT_TAIL_CHARACTERS)
  const left = content.length - RESULT_CHARACTERS_MAX
  return `${head}\n\n[${left} characters are left out here; ${place}]\n\n${content.slice(-RESULT_TAIL_CHARACTERS)}`.toWellFormed()
}

/** A disk without room must not cost the turn. */
function save(workdir: string, name: string, content: string): string {
  try {
    mkdirpSync(join(workdir, FOLDER))
    writeFileSync(join(workdir, FOLDER, name), content)
    return `the whole text is in ${join(FOLDER, name)}`
  } catch {
    return 'the whole text could not be saved'
  }
}
