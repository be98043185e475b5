/** The graph of a native agent: stages, and an edge to the next stage for each outcome. */
import { z } from 'zod'
import { GRAPH_CASES_MAX, GRAPH_EDGES_MAX, GRAPH_STAGES_MAX, NATIVE_STEPS_MAX, PATTERN_CHARACTERS_MAX } from '../contract/index.ts'
import { countCodePoints } from '../kit/index.ts'
import { distinct, name, strict, text, wholeNumber } from './fields.ts'

const PATTERN_RULE = `must be a regular expression of at most ${PATTERN_CHARACTERS_MAX} characters`
const pattern = z.string({ error: PATTERN_RULE }).refine((value) => countCodePoints(value) <= PATTERN_CHARACTERS_MAX && isPattern(value), {
  error: PATTERN_RULE,
})

function isPattern(value: string): boolean {
  try {
    return new RegExp(value) instanceof RegExp
  } catch {
    return false
  }
}

const CHECKS = ['last_line_integer', 'last_line_matches', 'nonempty'] as const
const verify = strict({
  kind: z.literal('verify'),
  check: z.enum(CHECKS, { error: `must be one of ${CHECKS.join(', ')}` }),
  pattern: pattern.optional(),
  message: text.optional(),
}).refine(({ check, pattern: given }) => (check === 'last_line_matches') === (given !== undefined), {
  error: 'must be given for the check last_line_matches, and for no other',
  path: ['pattern'],
})

const COUNT_MAX = 1024
const branchCase = strict({
  outcome: name.refine((outcome) => outcome !== 'else', { error: 'must not be else: that is the outcome when no case fits' }),
  steps_used_at_least: wholeNumber(COUNT_MAX).optional(),
  tool_errors_at_least: wholeNumber(COUNT_MAX).optional(),
  last_text_matches: pattern.optional(),
}).refine((given) => Object.keys(given).length === 2, {
  error: 'must have exactly one condition: steps_used_at_least, tool_errors_at_least or last_text_matches',
})
const CASES_RULE = `must be a list of 1 to ${GRAPH_CASES_MAX} cases, each with an outcome of its own`
const branch = strict({
  kind: z.literal('branch'),
  cases: z
    .array(branchCase, { error: CASES_RULE })
    .min(1, { error: CASES_RULE })
    .max(GRAPH_CASES_MAX, { error: CASES_RULE })
    .refine((cases) => new Set(cases.map(({ outcome }) => outcome)).size === cases.length, { error: CASES_RULE }),
})

const RATIO_RULE = 'must be a number above 0, and 1 at most'
const ratio = z.number({ error: RATIO_RULE }).gt(0, { error: RATIO_RULE }).max(1, { error: RATIO_RULE })
const compact = strict({ kind: z.literal('compact'), fire_ratio: ratio, keep_ratio: ratio }).refine(
  ({ fire_ratio, keep_ratio }) => fire_ratio > keep_ratio,
  { error: 'must be above keep_ratio', path: ['fire_ratio'] },
)

const stage = z.discriminatedUnion(
  'kind',
  [
    strict({ kind: z.literal('model') }),
    strict({ kind: z.literal('tools'), allow: distinct(name).optional() }),
    verify,
    strict({ kind: z.literal('message'), text }),
    branch,
    compact,
    strict({ kind: z.literal('subagent'), agent: name }),
    strict({ kind: z.literal('end'), reason: z.enum(['completed', 'gave_up'], { error: 'must be completed or gave_up' }) }),
  ],
  { error: 'must be one of model, tools, verify, message, branch, compact, subagent, end' },
)
type Stage = z.infer<typeof stage>

const STAGES_RULE = `must be an object of 1 to ${GRAPH_STAGES_MAX} stages by name`
const EDGES_RULE = `must be a list of at most ${GRAPH_EDGES_MAX} edges {from, outcome, to}`

const shape = strict({
  name,
  start: name,
  max_steps: wholeNumber(NATIVE_STEPS_MAX).optional(),
  stages: z
    .record(name, stage, { error: ({ code }) => (code === 'invalid_key' ? 'must have stages whose names are proper names' : STAGES_RULE) })
    .refine((stages) => Object.keys(stages).length > 0 && Object.keys(stages).length <= GRAPH_STAGES_MAX, { error: STAGES_RULE }),
  edges: z.array(strict({ from: name, outcome: name, to: name }), { error: EDGES_RULE }).max(GRAPH_EDGES_MAX, { error: EDGES_RULE }),
})
type Graph = z.infer<typeof shape>

/** Every outcome has a next stage, every stage can reach an end, and every cycle calls the model. */
export const graph = shape.check((checked) => {
  const problem = pathProblem(checked.value)
  if (problem !== null) checked.issues.push({ code: 'custom', input: checked.value, path: [problem.field], message: problem.rule })
})

interface Problem {
  readonly field: 'start' | 'edges' | 'stages'
  readonly rule: string
}

function pathProblem(checked: Graph): Problem | null {
  const { start, stages } = checked
  const names = Object.keys(stages)
  if (!names.includes(start)) return { field: 'start', rule: 'must name one of the stages' }
  const edges = edgesProblem(checked)
  if (edges !== null) return { field: 'edges', rule: edges }
  const onward = nextOf(checked)
  if (reachable([start], onward).size < names.length) return { field: 'stages', rule: 'must all be reachable from start' }
  const ends = names.filter((each) => stages[each]?.kind === 'end')
  if (reachable(ends, backwards(names, onward)).size < names.length) return { field: 'stages', rule: 'must each lead to an end' }
  const silently: Next = (each) => onward(each).filter((next) => stages[next]?.kind !== 'model')
  const hasCycle = names.some((each) => reachable(silently(each), silently).has(each))
  return hasCycle ? { field: 'edges', rule: 'must not form a cycle without a model stage' } : null
}

function edgesProblem({ stages, edges }: Graph): string | null {
  const ways = Object.entries(stages).flatMap(([from, each]) => outcomesOf(each).map((outcome) => `${from} ${outcome}`))
  const given = edges.map((edge) => `${edge.from} ${edge.outcome}`)
  if (edges.some(({ from, to }) => !Object.hasOwn(stages, from) || !Object.hasOwn(stages, to))) return 'must lead from stage to stage'
  if (given.some((way) => !ways.includes(way))) return 'must name outcomes that their stages have'
  return new Set(given).size === given.length && given.length === ways.length ? null : 'must be exactly one for each outcome of each stage'
}

function outcomesOf(each: Stage): readonly string[] {
  switch (each.kind) {
    case 'model':
      return ['tool_calls', 'text']
    case 'verify':
      return ['pass', 'fail']
    case 'branch':
      return [...each.cases.map(({ outcome }) => outcome), 'else']
    case 'subagent':
      return ['completed', 'gave_up', 'budget', 'ask']
    case 'end':
      return []
    default:
      return ['done']
  }
}

type Next = (stage: string) => readonly string[]

const nextOf =
  ({ edges }: Graph): Next =>
  (each) =>
    edges.filter((edge) => edge.from === each).map(({ to }) => to)

const backwards =
  (names: readonly string[], onward: Next): Next =>
  (each) =>
    names.filter((other) => onward(other).includes(each))

/** The starts and everything reachable from them. */
export function reachable(starts: readonly string[], next: Next): ReadonlySet<string> {
  const reached = new Set<string>()
  const waiting = [...starts]
  for (let each = waiting.pop(); each !== undefined; each = waiting.pop()) {
    if (reached.has(each)) continue
    reached.add(each)
    waiting.push(...next(each))
  }
  return reached
}
