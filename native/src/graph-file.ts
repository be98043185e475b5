/** The graph of a file: stages by name, and one edge for each outcome of each. */
import { bad, countOf, isData, listOf, numberOrNull, textOf, textOrNull, textsOrNull, wordOf, type FieldPlace } from './fields.ts'
import { STEPS_DEFAULT, STEPS_MAX } from './limits.ts'
import { BUILT_IN_GRAPH, type Case, type Graph, type GraphStage } from './tree.ts'

const KINDS = ['model', 'tools', 'verify', 'message', 'branch', 'compact', 'subagent', 'end'] as const
const CHECKS = ['last_line_integer', 'last_line_matches', 'nonempty'] as const

export function graphOf(place: FieldPlace & { readonly data: Readonly<Record<string, unknown>> }): Graph {
  const { at, data } = place
  const given = data['stages']
  if (!isData(given)) throw bad(`${at}.stages`, 'must be an object')
  const stages = new Map(Object.entries(given).map(([name, each]) => [name, stageOf({ at: `${at}.stages.${name}`, data: each })]))
  const edges = new Map(
    listOf(place, 'edges').map((edge): [string, string] => [wayOf(textOf(edge, 'from'), textOf(edge, 'outcome')), textOf(edge, 'to')]),
  )
  const stepsMax = countOf(place, 'max_steps', STEPS_DEFAULT, STEPS_MAX)
  return { name: textOf(place, 'name'), start: textOf(place, 'start'), stepsMax, stages, edges }
}

export const wayOf = (stage: string, outcome: string): string => `${stage} ${outcome}`

function stageOf(place: FieldPlace): GraphStage {
  const kind = wordOf(place, 'kind', KINDS)
  switch (kind) {
    case 'model':
      return { kind }
    case 'tools':
      return { kind, allow: textsOrNull(place, 'allow') }
    case 'verify': {
      const check = wordOf(place, 'check', CHECKS)
      const pattern = check === 'last_line_matches' ? textOf(place, 'pattern') : ''
      return { kind, check, pattern, message: textOrNull(place, 'message') }
    }
    case 'message':
      return { kind, text: textOf(place, 'text') }
    case 'branch':
      return { kind, cases: listOf(place, 'cases').map(caseOf) }
    case 'compact':
      return { kind, fireRatio: numberOrNull(place, 'fire_ratio') ?? 1, keepRatio: numberOrNull(place, 'keep_ratio') ?? 0.5 }
    case 'subagent':
      return { kind, agent: textOf(place, 'agent') }
    default:
      return { kind, reason: wordOf(place, 'reason', ['completed', 'gave_up'] as const) }
  }
}

const caseOf = (place: FieldPlace): Case => ({
  outcome: textOf(place, 'outcome'),
  stepsUsedAtLeast: numberOrNull(place, 'steps_used_at_least'),
  toolErrorsAtLeast: numberOrNull(place, 'tool_errors_at_least'),
  lastTextMatches: textOrNull(place, 'last_text_matches'),
})

/** Ask the model, do what it calls for, ask again; what it says without a call is the answer. */
export const builtInGraph: Graph = {
  name: BUILT_IN_GRAPH,
  start: 'think',
  stepsMax: STEPS_DEFAULT,
  stages: new Map<string, GraphStage>([
    ['think', { kind: 'model' }],
    ['act', { kind: 'tools', allow: null }],
    ['done', { kind: 'end', reason: 'completed' }],
  ]),
  edges: new Map([
    [wayOf('think', 'tool_calls'), 'act'],
    [wayOf('act', 'done'), 'think'],
    [wayOf('think', 'text'), 'done'],
  ]),
}
