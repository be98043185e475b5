/** Reads a tree from the folder `native`: data is parsed and checked, code is read and never run. */
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '@svc-ai/agent/shared'
import { NO_TOKEN } from '@svc-ai/client/shared'
import { failed } from './ended.ts'
import { bad, countOf, isData, numberOrNull, objectIn, textOf, textOrNull, textsOrNull, wordOf } from './fields.ts'
import { builtInGraph, graphOf } from './graph-file.ts'
import { CONTEXT_TOKENS_DEFAULT, STEPS_DEFAULT, STEPS_MAX, TOOL_CALLS_MAX } from './limits.ts'
import {
  BUILT_IN_GRAPH,
  type Agent,
  type Capability,
  type Graph,
  type Hook,
  type Loop,
  type TreeModel,
  type TreeSkill,
  type TreeTool,
  type Tree,
} from './tree.ts'

const DESCRIPTION_CHARACTERS_MAX = 1000

const CAPABILITIES: readonly Capability[] = ['read', 'write', 'exec', 'network']
const EVENTS = ['pre_step', 'pre_execute', 'request_error', 'post_execute'] as const

/** Throws `TurnEnded` with LOAD_ERROR, naming the file. */
export function loadTree(path: string): Tree {
  const folder = folderAt(path)
  const tree = {
    folder,
    model: modelIn(folder),
    rules: textAt(folder, 'AGENTS.md')?.trim() ?? '',
    skills: skillsIn(folder),
    tools: namesIn(folder, 'tools').map((name) => toolAt(folder, name)),
    hooks: namesIn(folder, 'hooks').map((name) => hookAt(folder, name)),
    agents: new Map(namesIn(folder, 'agents').map((name): [string, Agent] => [name, agentAt(folder, name)])),
    graphs: new Map(namesIn(folder, 'graphs').map((name): [string, Graph] => [name, graphOf(declared(folder, 'graphs', name))])),
    loop: loopIn(folder),
  }
  checkNames(tree)
  return tree
}

function folderAt(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    throw failed('LOAD_ERROR', `there is no folder ${path}: pull a tree with 'svc-client pull', or name another folder`)
  }
}

function modelIn(folder: string): TreeModel {
  const place = objectIn('models.json', textAt(folder, 'models.json') ?? '{}')
  const api = textOrNull(place, 'api') ?? 'openai'
  if (api !== 'openai') throw bad('models.json.api', `is ${api}, and the native agent speaks openai alone`)
  const apiKey = textOrNull(place, 'api_key')
  return {
    baseUrl: textOrNull(place, 'base_url'),
    apiKey: apiKey === '' || apiKey === NO_TOKEN ? null : apiKey,
    model: textOrNull(place, 'model'),
    contextTokens: numberOrNull(place, 'context_window') ?? CONTEXT_TOKENS_DEFAULT,
  }
}

/** Null when there is nothing at the path. */
function ifThere<T>(path: string, read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    throw bad(path, 'cannot be read')
  }
}

const textAt = (folder: string, path: string): string | null => ifThere(path, () => readFileSync(join(folder, path), 'utf8'))

function skillsIn(folder: string): readonly TreeSkill[] {
  return listed(folder, 'skills').flatMap((name) => {
    const text = textAt(folder, join('skills', name, 'SKILL.md'))
    if (text === null) return []
    return [{ name, description: descriptionIn(text) ?? name, location: join(folder, 'skills', name, 'SKILL.md') }]
  })
}

const listed = (folder: string, kind: string): readonly string[] => ifThere(kind, () => readdirSync(join(folder, kind)).sort()) ?? []

/** Each part of a tree has a declaration, and those with code a module beside it. */
const namesIn = (folder: string, kind: string): readonly string[] =>
  listed(folder, kind)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))

const declared = (folder: string, kind: string, name: string): ReturnType<typeof objectIn> =>
  objectIn(`${kind}/${name}.json`, textAt(folder, join(kind, `${name}.json`)) ?? '')

function codeAt(folder: string, kind: string, name: string): string {
  const code = textAt(folder, join(kind, `${name}.ts`))
  if (code !== null) return code
  throw bad(`${kind}/${name}.ts`, 'is missing')
}

function toolAt(folder: string, name: string): TreeTool {
  const place = declared(folder, 'tools', name)
  const { parameters } = place.data
  const capabilities = textsOrNull(place, 'capabilities') ?? []
  return {
    name,
    description: textOf(place, 'description'),
    parameters: isData(parameters) ? parameters : {},
    capabilities: CAPABILITIES.filter((each) => capabilities.includes(each)),
    code: codeAt(folder, 'tools', name),
  }
}

function hookAt(folder: string, name: string): Hook {
  return { name, event: wordOf(declared(folder, 'hooks', name), 'event', EVENTS), code: codeAt(folder, 'hooks', name) }
}

function agentAt(folder: string, name: string): Agent {
  const place = declared(folder, 'agents', name)
  return {
    name,
    prompt: textOf(place, 'prompt'),
    graph: textOrNull(place, 'graph') ?? BUILT_IN_GRAPH,
    tools: textsOrNull(place, 'tools'),
    skills: textsOrNull(place, 'skills'),
    stepsMax: countOf(place, 'max_steps', STEPS_DEFAULT, STEPS_MAX),
    toolCallsMax: countOf(place, 'max_tool_calls', TOOL_CALLS_MAX, TOOL_CALLS_MAX),
    followers: textsOrNull(place, 'then') ?? [],
  }
}

function loopIn(folder: string): Loop | null {
  const [name] = namesIn(folder, 'loops')
  if (name === undefined) return null
  return {
    name,
    stepsMax: countOf(declared(folder, 'loops', name), 'max_steps', STEPS_DEFAULT, STEPS_MAX),
    code: codeAt(folder, 'loops', name),
  }
}

/** A stage or an agent that is not there would be found out in the middle of somebody's turn. */
function checkNames({ agents, graphs }: Pick<Tree, 'agents' | 'graphs'>): void {
  for (const { name, graph, followers } of agents.values()) {
    if (graph !== BUILT_IN_GRAPH && !graphs.has(graph)) throw bad(`agents/${name}.json`, `names the graph ${graph}, which is not there`)
    const stranger = followers.find((each) => !agents.has(each))
    if (stranger !== undefined) throw bad(`agents/${name}.json`, `names the agent ${stranger}, which is not there`)
  }
  for (const { name, start, stages, edges } of graphs.values()) {
    const stranger = [start, ...edges.values()].find((each) => !stages.has(each))
    if (stranger !== undefined) throw bad(`graphs/${name}.json`, `names the stage ${stranger}, which is not there`)
    for (const stage of stages.values())
      if (stage.kind === 'subagent' && !agents.has(stage.agent))
        throw bad(`graphs/${name}.json`, `names the agent ${stage.agent}, which is not there`)
  }
}

export const graphNamed = ({ graphs }: Tree, name: string): Graph => graphs.get(name) ?? builtInGraph

/** What a skill is about, from the head of its text: enough of YAML for one line, quoted or folded. Null where nothing says it. */
function descriptionIn(text: string): string | null {
  const [, head] = /^---[ \t]*\r?\n((?:(?!---)[^\n]*\n)*)---/.exec(text) ?? []
  const found = head === undefined ? firstLine(text) : (described(head.split(/\r?\n/)) ?? firstLine(text.slice(head.length + 8)))
  return found === null || found === '' ? null : found.slice(0, DESCRIPTION_CHARACTERS_MAX)
}

function described(lines: readonly string[]): string | null {
  const at = lines.findIndex((line) => line.startsWith('description:'))
  const [first, ...rest] = at < 0 ? [] : lines.slice(at)
  if (first === undefined) return null
  const value = first.slice('description:'.length).trim()
  const end = rest.findIndex((line) => line.trim() !== '' && !/^\s/.test(line))
  const further = rest.slice(0, end < 0 ? rest.length : end).map((line) => line.trim())
  const words = [/^[|>][-+]?$/.test(value) ? '' : value, ...further].filter((each) => each !== '').join(' ')
  return unquoted(words)
}

function unquoted(text: string): string {
  if (/^'.*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'")
  if (!/^".*"$/.test(text)) return text
  try {
    return String(JSON.parse(text))
  } catch {
    return text.slice(1, -1)
  }
}

function firstLine(text: string): string | null {
  const lines = text.split('\n').map((line) => line.replace(/^#+/, '').trim())
  return lines.find((line) => line !== '') ?? null
}
