/** The agent's tools: read, write, check, try, finish. */
import { isObject } from '../../../src/contract/index.ts'
import type { Brief, ChatCall, ChatTool, Json, JsonObject, Task, Trial } from '../../../src/contract/index.ts'
import type { Drafted } from '../../../src/evolution/index.ts'
import { fence } from '../../../src/kit/index.ts'
import type { Workspace } from './workspace.ts'

const TRIALS_MAX = 4
const READ_CHARACTERS_MAX = 16_000
const LINE_CHARACTERS_MAX = 120

const textOf = (description: string): JsonObject => ({ type: 'string', description })
const tool = (name: string, description: string, properties: JsonObject = {}, required = Object.keys(properties)): ChatTool => ({
  name,
  description,
  parameters: { type: 'object', properties, required, additionalProperties: false },
})

export const TOOLS: readonly ChatTool[] = [
  tool('list', 'Lists all files.'),
  tool(
    'read',
    `Reads a file, ${READ_CHARACTERS_MAX} characters at a time.`,
    { path: textOf('Its path.'), offset: { type: 'number', description: 'The first character to read; 0 when left out.' } },
    ['path'],
  ),
  tool('write', 'Writes a file whole.', { path: textOf('Its path.'), text: textOf('All that is to stand in it.') }),
  tool('edit', 'Replaces a text that occurs in a file exactly once.', {
    path: textOf('Its path.'),
    old: textOf('The text as it stands there.'),
    new: textOf('What stands there instead.'),
  }),
  tool('remove', 'Removes a file.', { path: textOf('Its path.') }),
  tool('check', 'Says whether the changes so far would be admitted, and if not, why.'),
  tool(
    'trial',
    `Lets the changed harness work on one task and tells how it went. There are ${TRIALS_MAX} of them. Name a task, or write a prompt of your own.`,
    { task: textOf('The name of a task.'), prompt: textOf('A task in your own words.') },
    [],
  ),
  tool('finish', 'Ends the work. The changes must be admitted.'),
]

export type Toolbox = ReturnType<typeof openTools>

export function openTools(brief: Brief, workspace: Workspace) {
  let checked: Drafted | null = null
  let isFinished = false
  let trials = 0

  /** Why the files are not a valid change yet, or null. */
  const check = (): string | null => {
    const change = workspace.change()
    const problem = change === null ? 'nothing is changed yet' : typeof change === 'string' ? change : brief.check(change.mutations)
    if (problem === null && change !== null && typeof change !== 'string') checked = change
    brief.report.line('check', problem ?? `admitted: ${namesOf(checked)}`, problem !== null)
    return problem
  }

  const trial = async (given: JsonObject): Promise<string> => {
    const task = taskOf(given, brief.tasks, trials)
    if (typeof task === 'string') return task
    if (trials === TRIALS_MAX) return `all ${TRIALS_MAX} trials are used`
    const problem = check()
    if (problem !== null) return `not tried: ${problem}`
    trials += 1
    return describeTrial(await brief.trial(checked?.mutations ?? [], task))
  }

  const finish = (): string => {
    const isUntouched = workspace.change() === null
    const problem = isUntouched ? null : check()
    if (problem !== null) return `not finished: ${problem}`
    // An agent that undid everything proposes nothing.
    if (isUntouched) checked = null
    isFinished = true
    return 'finished'
  }

  const runs: Readonly<Record<string, (given: JsonObject) => string | Promise<string>>> = {
    list: () => workspace.list(),
    read: ({ path, offset }) => pageOf(workspace.read(word(path)), offset),
    write: ({ path, text: written }) => workspace.write(word(path), word(written)),
    edit: ({ path, old, new: replacement }) => edit(workspace, word(path), word(old), word(replacement)),
    remove: ({ path }) => workspace.remove(word(path)),
    check: () => check() ?? `admitted: ${namesOf(checked)}`,
    trial,
    finish,
  }

  return {
    /** The last admitted change. */
    checked: (): Drafted | null => checked,
    isFinished: (): boolean => isFinished,
    /** Returns the result, for the agent to read: as data, since files and trials hold text of others. */
    async run(call: ChatCall): Promise<string> {
      const given = argumentsOf(call)
      brief.report.line('agent', lineOf(call, given), given === null)
      const run = Object.hasOwn(runs, call.name) ? runs[call.name] : undefined
      if (run === undefined) return `there is no tool of that name; there are: ${Object.keys(runs).join(', ')}`
      return given === null ? 'the arguments must be one JSON object' : fence(call.name, await run(given))
    },
  }
}

const namesOf = (change: Drafted | null): string => (change?.mutations ?? []).map(({ op, id }) => `${op} ${id}`).join(', ')

function argumentsOf(call: ChatCall): JsonObject | null {
  try {
    const given: Json = JSON.parse(call.arguments.trim() === '' ? '{}' : call.arguments)
    return isObject(given) ? given : null
  } catch {
    return null
  }
}

function lineOf({ name }: ChatCall, given: JsonObject | null): string {
  const { path, task } = given ?? {}
  return [name, path ?? task ?? '']
    .filter((each) => typeof each === 'string')
    .join(' ')
    .trim()
    .slice(0, LINE_CHARACTERS_MAX)
    .toWellFormed()
}

const word = (value: Json | undefined): string => (typeof value === 'string' ? value : '')

function pageOf(found: string | null, offset: Json | undefined): string {
  if (found === null) return 'there is no file of that path'
  const start = typeof offset === 'number' && offset > 0 ? Math.floor(offset) : 0
  const shown = found.slice(start, start + READ_CHARACTERS_MAX).toWellFormed()
  const left = found.length - start - READ_CHARACTERS_MAX
  return left > 0 ? `${shown}\n(${left} characters more; read on with offset ${start + READ_CHARACTERS_MAX})` : shown
}

function edit(workspace: Workspace, path: string, old: string, replacement: string): string {
  const found = workspace.read(path)
  if (found === null) return 'there is no file of that path'
  const pieces = old === '' ? [] : found.split(old)
  if (pieces.length !== 2) return 'the old text must occur in the file exactly once'
  return workspace.write(path, pieces.join(replacement))
}

/** A task of the step by name, or the agent's own prompt, which gets no score. */
function taskOf({ task, prompt }: JsonObject, tasks: readonly Task[], trials: number): Task | string {
  if (typeof prompt === 'string' && prompt.trim() !== '') return { name: `own-${trials + 1}`, prompt, role: 'train' }
  const found = tasks.find(({ name }) => name === task)
  return found ?? 'name one of the tasks you were told of, or write a prompt'
}

const TEXT_CHARACTERS_MAX = 4000
const CALLS_SHOWN_MAX = 30
const CALL_CHARACTERS_MAX = 300
const STDERR_CHARACTERS_MAX = 2000
/** Only the last events are read. */
const EVENTS_READ_MAX = 500
const DEPTH_MAX = 6

/** Describes a trial for the agent, using what the logs of all agents have in common. */
function describeTrial({ score, failure, episode }: Trial): string {
  const result = { score, ...(failure !== null && { failure }) }
  if (episode === null) return JSON.stringify(result)
  const { trajectory, stdout, stderr, exitCode, ended } = episode
  const events = trajectory.slice(-EVENTS_READ_MAX).flatMap((event) => partsOf(event, DEPTH_MAX))
  return JSON.stringify(
    {
      ...result,
      exit_code: exitCode,
      ...(ended !== undefined && { ended }),
      final_text: (events.map(spokenIn).findLast((text) => text !== '') ?? stdout.trim()).slice(-TEXT_CHARACTERS_MAX).toWellFormed(),
      tool_calls: events.flatMap(callIn).slice(-CALLS_SHOWN_MAX),
      stderr: stderr.trim().slice(-STDERR_CHARACTERS_MAX).toWellFormed(),
    },
    null,
    1,
  )
}

/** The event and all objects in it, in order. */
function partsOf(value: Json, depth: number): readonly JsonObject[] {
  if (depth === 0 || typeof value !== 'object' || value === null) return []
  const inside = Object.values(value).flatMap((member: Json) => partsOf(member, depth - 1))
  return isObject(value) ? [value, ...inside] : inside
}

function spokenIn({ role, type, content, text }: JsonObject): string {
  if (role !== 'assistant' && type !== 'assistant/message') return ''
  if (typeof content === 'string') return content.trim()
  const parts = Array.isArray(content) ? content.filter(isObject) : [{ type: 'text', text: text ?? '' }]
  const texts = parts.map((part) => (part['type'] === 'text' || part['type'] === 'output_text' ? part['text'] : ''))
  return texts
    .filter((each) => typeof each === 'string')
    .join('\n')
    .trim()
}

/** Any object with a name and arguments. */
function callIn({ name, input, arguments: given, args }: JsonObject): readonly string[] {
  const called = input ?? given ?? args
  if (typeof name !== 'string' || called === undefined) return []
  return [`${name} ${typeof called === 'string' ? called : JSON.stringify(called)}`.slice(0, CALL_CHARACTERS_MAX).toWellFormed()]
}
