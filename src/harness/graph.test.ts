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

describe('a graph is fine', () => {
  it.each<[string, JsonObject]>([
    ['thinking', THINKING],
    ['a limit of its own', { ...THINKING, max_steps: 32 }],
    [
      'a check',
      withStage({ kind: 'verify', check: 'last_line_matches', pattern: '^\\d+$', message: 'A number, please.' }, ['pass', 'fail']),
    ],
    ['a message', withStage({ kind: 'message', text: 'Go on.' }, ['done'])],
    [
      'a branch',
      withStage(
        {
          kind: 'branch',
          cases: [
            { outcome: 'late', steps_used_at_least: 3 },
            { outcome: 'said', last_text_matches: 'ok' },
          ],
        },
        ['late', 'said', 'else'],
      ),
    ],
    ['compacting', withStage({ kind: 'compact', fire_ratio: 0.8, keep_ratio: 0.5 }, ['done'])],
    ['another agent', withStage({ kind: 'subagent', agent: 'critic' }, ['completed', 'gave_up', 'budget', 'ask'])],
  ])('%s', (_, graph) => {
    expect(problemOf(graph)).toBeNull()
  })
})

describe('a graph is refused', () => {
  const { stages, edges } = THINKING
  it.each<[string, JsonObject, string]>([
    ['without stages', { ...THINKING, stages: {} }, 'config.stages must be an object of 1 to 16 stages by name'],
    ['with too many stages', { ...THINKING, stages: many(17) }, 'config.stages must be an object of 1 to 16 stages by name'],
    ['with a list of stages', { ...THINKING, stages: [] }, 'config.stages must be an object of 1 to 16 stages by name'],
    ['with a stage of a bad name', { ...THINKING, stages: { ...stages, '../x': { kind: 'model' } } }, 'config.stages'],
    ['with a stage of no kind', { ...THINKING, stages: { ...stages, act: {} } }, 'config.stages.act.kind must be one of model, tools'],
    [
      'with a stage of an unknown kind',
      { ...THINKING, stages: { ...stages, act: { kind: 'sing' } } },
      'config.stages.act.kind must be one of',
    ],
    [
      'with an unknown field',
      { ...THINKING, stages: { ...stages, think: { kind: 'model', temperature: 1 } } },
      'config.stages.think holds an unknown field',
    ],
    [
      'with too many edges',
      { ...THINKING, edges: Array.from({ length: 65 }, () => edges[0] ?? {}) },
      'config.edges must be a list of at most 64 edges',
    ],
    ['with steps out of range', { ...THINKING, max_steps: 33 }, 'config.max_steps must be a whole number from 1 to 32'],
    ['that starts nowhere', { ...THINKING, start: 'there' }, 'config.start must name one of the stages'],
    [
      'that leads nowhere',
      { ...THINKING, edges: [...edges.slice(1), edge('think', 'tool_calls', 'there')] },
      'config.edges must lead from stage to stage',
    ],
    [
      'with an outcome that does not exist',
      { ...THINKING, edges: [...edges, edge('act', 'fail', 'done')] },
      'config.edges must name outcomes that their stages have',
    ],
    ['with an outcome left open', { ...THINKING, edges: edges.slice(1) }, 'config.edges must be exactly one for each outcome'],
    [
      'with two ways for one outcome',
      { ...THINKING, edges: [...edges, edge('act', 'done', 'done')] },
      'config.edges must be exactly one for each outcome',
    ],
    [
      'with a stage nobody comes to',
      { ...THINKING, stages: { ...stages, spare: { kind: 'end', reason: 'gave_up' } } },
      'config.stages must all be reachable',
    ],
    [
      'without an end',
      {
        start: 'think',
        stages: { think: { kind: 'model' } },
        edges: [edge('think', 'text', 'think'), edge('think', 'tool_calls', 'think')],
      },
      'config.stages must each lead to an end',
    ],
    ['that goes round without the model', circling(), 'config.edges must not form a cycle without a model stage'],
    [
      'with a pattern for a check that takes none',
      withStage({ kind: 'verify', check: 'nonempty', pattern: 'a' }, ['pass', 'fail']),
      'config.stages.extra.pattern must be given for',
    ],
    [
      'with a check without its pattern',
      withStage({ kind: 'verify', check: 'last_line_matches' }, ['pass', 'fail']),
      'config.stages.extra.pattern must be given for',
    ],
    [
      'with a pattern that is none',
      withStage({ kind: 'verify', check: 'last_line_matches', pattern: '(' }, ['pass', 'fail']),
      'config.stages.extra.pattern must be a regular expression',
    ],
    [
      'with a pattern too long',
      withStage({ kind: 'verify', check: 'last_line_matches', pattern: 'a'.repeat(201) }, ['pass', 'fail']),
      'config.stages.extra.pattern must be a regular expression',
    ],
    [
      'with a branch of no cases',
      withStage({ kind: 'branch', cases: [] }, ['else']),
      'config.stages.extra.cases must be a list of 1 to 8 cases',
    ],
    [
      'with a case of two conditions',
      withStage({ kind: 'branch', cases: [{ outcome: 'a', steps_used_at_least: 1, tool_errors_at_least: 1 }] }, ['a', 'else']),
      'config.stages.extra.cases[0] must have exactly one condition',
    ],
    [
      'with a case called else',
      withStage({ kind: 'branch', cases: [{ outcome: 'else', steps_used_at_least: 1 }] }, ['else']),
      'config.stages.extra.cases[0].outcome must not be else',
    ],
    [
      'with two cases of one outcome',
      withStage(
        {
          kind: 'branch',
          cases: [
            { outcome: 'a', steps_used_at_least: 1 },
            { outcome: 'a', steps_used_at_least: 2 },
          ],
        },
        ['a', 'else'],
      ),
      'config.stages.extra.cases must be a list of 1 to 8 cases',
    ],
    [
      'that keeps more than it fires at',
      withStage({ kind: 'compact', fire_ratio: 0.5, keep_ratio: 0.5 }, ['done']),
      'config.stages.extra.fire_ratio must be above keep_ratio',
    ],
    [
      'with an end for no reason',
      { ...THINKING, stages: { ...stages, done: { kind: 'end', reason: 'bored' } } },
      'config.stages.done.reason must be completed or gave_up',
    ],
  ])('%s', (_, graph, problem) => {
    expect(problemOf(graph)).toContain(`g: ${problem}`)
  })
})

const many = (count: number): JsonObject => Object.fromEntries(Array.from({ length: count }, (_, at) => [`s${at}`, { kind: 'model' }]))

/** From the check back to a message, and from the message to the check. */
function circling(): JsonObject {
  const { start, stages, edges } = withStage({ kind: 'verify', check: 'nonempty' }, ['pass'])
  return {
    start,
    stages: { ...stages, again: { kind: 'message', text: 'Again.' } },
    edges: [...edges, edge('extra', 'fail', 'again'), edge('again', 'done', 'extra')],
  }
}
