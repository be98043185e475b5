import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../contract/index.ts'
import { entryProblem } from './kinds.ts'
import { native } from './testing/adapters.ts'

const edge = (from: string, outcome: string, to: string): JsonObject => ({ from, outcome, to })

/** Thinks, acts, thinks again, until there is an answer. */
const THINKING = {
  start: 'think',
  stages: { think: { kind: 'model' }, act: { kind: 'tools', allow: ['read'] }, done: { kind: 'end', reason: 'completed' } },
  edges: [edge('think', 'tool_calls', 'act'), edge('think', 'text', 'done'), edge('act', 'done', 'think')],
}

/** The same with a stage between the answer and the end, whose outcomes all lead to one place. */
function withStage(stage: Json, outcomes: readonly string[]): { start: string; stages: JsonObject; edges: JsonObject[] } {
  const { start, stages } = THINKING
  const edges = [edge('think', 'tool_calls', 'act'), edge('think', 'text', 'extra'), edge('act', 'done', 'think')]
  return { start, stages: { ...stages, extra: stage }, edges: [...edges, ...outcomes.map((each) => edge('extra', each, 'done'))] }
}

const problemOf = (graph: JsonObject): string | null =>
  entryProblem(native, { id: 'g', name: 'native_graph', config: { name: 'g', ...graph } })

const thinking = (changes: JsonObject): JsonObject => ({ ...THINKING, ...changes })
const withStages = (stages: JsonObject): JsonObject => thinking({ stages: { ...THINKING.stages, ...stages } })
const verify = (fields: JsonObject): JsonObject => withStage({ kind: 'verify', ...fields }, ['pass', 'fail'])
const branch = (...cases: readonly (JsonObject & { readonly outcome: string })[]): JsonObject => {
  const outcomes = new Set([...cases.map(({ outcome }) => outcome), 'else'])
  return withStage({ kind: 'branch', cases }, [...outcomes])
}

describe('a graph is fine', () => {
  it.each<[string, JsonObject]>([
    ['thinking', THINKING],
    ['a limit of its own', thinking({ max_steps: 32 })],
    ['a check', verify({ check: 'last_line_matches', pattern: '^\\d+$', message: 'A number, please.' })],
    ['a message', withStage({ kind: 'message', text: 'Go on.' }, ['done'])],
    ['a branch', branch({ outcome: 'late', steps_used_at_least: 3 }, { outcome: 'said', last_text_matches: 'ok' })],
    ['compacting', withStage({ kind: 'compact', fire_ratio: 0.8, keep_ratio: 0.5 }, ['done'])],
    ['another agent', withStage({ kind: 'subagent', agent: 'critic' }, ['completed', 'gave_up', 'budget', 'ask'])],
  ])('%s', (_, graph) => {
    expect(problemOf(graph)).toBeNull()
  })
})

describe('a graph is refused', () => {
  const { edges } = THINKING
  const [first = {}] = edges
  it.each<[string, JsonObject, string]>([
    ['without stages', thinking({ stages: {} }), 'stages must be an object of 1 to 16 stages by name'],
    ['with too many stages', thinking({ stages: many(17) }), 'stages must be an object of 1 to 16 stages by name'],
    ['with a list of stages', thinking({ stages: [] }), 'stages must be an object of 1 to 16 stages by name'],
    ['with a stage of a bad name', withStages({ '../x': { kind: 'model' } }), 'stages'],
    ['with a stage of no kind', withStages({ act: {} }), 'stages.act.kind must be one of model, tools'],
    ['with a stage of an unknown kind', withStages({ act: { kind: 'sing' } }), 'stages.act.kind must be one of'],
    ['with an unknown field', withStages({ think: { kind: 'model', temperature: 1 } }), 'stages.think holds an unknown field'],
    ['with too many edges', thinking({ edges: Array.from({ length: 65 }, () => first) }), 'edges must be a list of at most 64 edges'],
    ['with steps out of range', thinking({ max_steps: 33 }), 'max_steps must be a whole number from 1 to 32'],
    ['that starts nowhere', thinking({ start: 'there' }), 'start must name one of the stages'],
    ['that leads nowhere', leading(edge('think', 'tool_calls', 'there')), 'edges must lead from stage to stage'],
    [
      'with an unknown outcome',
      thinking({ edges: [...edges, edge('act', 'fail', 'done')] }),
      'edges must name outcomes that their stages have',
    ],
    ['with an outcome left open', leading(), 'edges must be exactly one for each outcome'],
    ['with two edges for one outcome', thinking({ edges: [...edges, edge('act', 'done', 'done')] }), 'edges must be exactly one for each'],
    ['with an unreachable stage', withStages({ spare: { kind: 'end', reason: 'gave_up' } }), 'stages must all be reachable'],
    ['without an end', endless(), 'stages must each lead to an end'],
    ['with a cycle without the model', circling(), 'edges must not form a cycle without a model stage'],
    ['with a pattern for a check that takes none', verify({ check: 'nonempty', pattern: 'a' }), 'stages.extra.pattern must be given for'],
    ['with a check without its pattern', verify({ check: 'last_line_matches' }), 'stages.extra.pattern must be given for'],
    ['with a pattern that is none', matching('('), 'stages.extra.pattern must be a regular expression'],
    ['with a pattern too long', matching('a'.repeat(201)), 'stages.extra.pattern must be a regular expression'],
    ['with a branch of no cases', branch(), 'stages.extra.cases must be a list of 1 to 8 cases'],
    [
      'with a case of two conditions',
      branch({ outcome: 'a', steps_used_at_least: 1, tool_errors_at_least: 1 }),
      'stages.extra.cases[0] must have exactly one condition',
    ],
    ['with a case called else', branch({ outcome: 'else', steps_used_at_least: 1 }), 'stages.extra.cases[0].outcome must not be else'],
    [
      'with two cases of one outcome',
      branch({ outcome: 'a', steps_used_at_least: 1 }, { outcome: 'a', steps_used_at_least: 2 }),
      'stages.extra.cases must be a list of 1 to 8 cases',
    ],
    [
      'that keeps more than it fires at',
      withStage({ kind: 'compact', fire_ratio: 0.5, keep_ratio: 0.5 }, ['done']),
      'stages.extra.fire_ratio must be above keep_ratio',
    ],
    [
      'with an end for no reason',
      withStages({ done: { kind: 'end', reason: 'bored' } }),
      'stages.done.reason must be completed or gave_up',
    ],
  ])('%s', (_, graph, problem) => {
    expect(problemOf(graph)).toContain(`g: config.${problem}`)
  })
})

const many = (count: number): JsonObject => Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, { kind: 'model' }]))

const matching = (pattern: string): JsonObject => verify({ check: 'last_line_matches', pattern })

/** The way from the model to its tools is another one, or none. */
function leading(...others: readonly JsonObject[]): JsonObject {
  return thinking({ edges: [...THINKING.edges.slice(1), ...others] })
}

function endless(): JsonObject {
  const edges = [edge('think', 'text', 'think'), edge('think', 'tool_calls', 'think')]
  return { start: 'think', stages: { think: { kind: 'model' } }, edges }
}

/** From the check back to a message, and from the message to the check. */
function circling(): JsonObject {
  const { start, stages, edges } = withStage({ kind: 'verify', check: 'nonempty' }, ['pass'])
  return {
    start,
    stages: { ...stages, again: { kind: 'message', text: 'Again.' } },
    edges: [...edges, edge('extra', 'fail', 'again'), edge('again', 'done', 'extra')],
  }
}
