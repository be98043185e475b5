/** Rules between the entries of a native tree: every named entry must exist, and agents may not form a cycle. */
import { isObject, type Entry, type Json, type JsonObject } from '../contract/index.ts'
import { reachable } from './graph.ts'
import { RESERVED_TOOLS } from './schemas.ts'

/** The native agent's own graph, the default. */
const BUILT_IN_GRAPH = 'seed'
/** The model's address is set when an episode or session starts, never by the tree. */
const BOUND_FIELDS = ['api', 'base_url', 'api_key', 'model']

/** Every broken rule among the enabled entries, naming the entry. */
export function nativeProblems(entries: readonly Entry[]): readonly string[] {
  return [...settings(entries), ...missing(entries), ...cycles(entries), ...secondLoops(entries)]
}

const named = (entries: readonly Entry[], kind: string): readonly Entry[] => entries.filter((entry) => entry.name === kind)

function settings(entries: readonly Entry[]): readonly string[] {
  return named(entries, 'config').flatMap(({ id, config: { target, data } }) => {
    const at = `${id}: config`
    if (target !== 'models') return [`${at}.target must be models: the native agent reads no other settings`]
    const fields = isObject(data) ? data : {}
    const bound = BOUND_FIELDS.find((field) => Object.hasOwn(fields, field))
    if (bound !== undefined) return [`${at}.data.${bound} is set by the service; leave it out`]
    const { context_window: window } = fields
    const fits = window === undefined || (typeof window === 'number' && window > 0)
    return fits ? [] : [`${at}.data.context_window must be a number above 0`]
  })
}

function missing(entries: readonly Entry[]): readonly string[] {
  const known: Readonly<Record<string, readonly string[]>> = {
    tools: [...namesOf(entries, 'native_tool'), ...RESERVED_TOOLS],
    skills: namesOf(entries, 'skill'),
    graph: [...namesOf(entries, 'native_graph'), BUILT_IN_GRAPH],
    agents: namesOf(entries, 'native_agent'),
  }
  return [...agentUses(entries), ...graphUses(entries)]
    .filter(({ kind, name }) => known[kind]?.includes(name) !== true)
    .map(({ field, name }) => `${field} names ${name}, which the tree does not have or has disabled`)
}

const namesOf = (entries: readonly Entry[], kind: string): readonly string[] => named(entries, kind).map(nameOf)

const nameOf = ({ config: { name } }: Entry): string => (typeof name === 'string' ? name : '')

interface Use {
  readonly kind: 'tools' | 'skills' | 'graph' | 'agents'
  readonly field: string
  readonly name: string
}

function agentUses(entries: readonly Entry[]): readonly Use[] {
  return named(entries, 'native_agent').flatMap(({ id, config }) => [
    ...textsOf(config['tools']).map((name): Use => ({ kind: 'tools', field: `${id}: config.tools`, name })),
    ...textsOf(config['skills']).map((name): Use => ({ kind: 'skills', field: `${id}: config.skills`, name })),
    ...textsOf(config['graph']).map((name): Use => ({ kind: 'graph', field: `${id}: config.graph`, name })),
    ...textsOf(config['then']).map((name): Use => ({ kind: 'agents', field: `${id}: config.then`, name })),
  ])
}

function graphUses(entries: readonly Entry[]): readonly Use[] {
  return named(entries, 'native_graph').flatMap(({ id, config }) =>
    stagesOf(config).flatMap(([stage, { allow, agent }]) => [
      ...textsOf(allow).map((name): Use => ({ kind: 'tools', field: `${id}: config.stages.${stage}.allow`, name })),
      ...textsOf(agent).map((name): Use => ({ kind: 'agents', field: `${id}: config.stages.${stage}.agent`, name })),
    ]),
  )
}

function stagesOf({ stages }: JsonObject): readonly [string, JsonObject][] {
  const all = isObject(stages) ? Object.entries(stages) : []
  return all.flatMap(([name, stage]): [string, JsonObject][] => (isObject(stage) ? [[name, stage]] : []))
}

function textsOf(value: Json | undefined): readonly string[] {
  return [value].flat().filter((each): each is string => typeof each === 'string')
}

/** An agent hands over to its `then` agents and to the subagents of its graph. */
function cycles(entries: readonly Entry[]): readonly string[] {
  const agents = new Map(named(entries, 'native_agent').map((entry) => [nameOf(entry), entry]))
  const graphs = new Map(named(entries, 'native_graph').map((entry) => [nameOf(entry), entry]))
  const next = (name: string): readonly string[] => {
    const config = agents.get(name)?.config ?? {}
    const [graph = BUILT_IN_GRAPH] = textsOf(config['graph'])
    const asked = stagesOf(graphs.get(graph)?.config ?? {}).flatMap(([, { agent }]) => textsOf(agent))
    return [...textsOf(config['then']), ...asked]
  }
  return [...agents]
    .filter(([name]) => reachable(next(name), next).has(name))
    .map(([, { id }]) => `${id}: the agent hands over to itself through other agents; break the cycle`)
}

function secondLoops(entries: readonly Entry[]): readonly string[] {
  const [first, ...others] = named(entries, 'native_loop')
  return others.map(({ id }) => `${id}: a tree has one native_loop, and ${first?.id} is there; remove or disable one`)
}
