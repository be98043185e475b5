/**
 * The worlds with wide gaps: in each, a harness lacks one thing, and the fix is known.
 *
 * | family | problem | fix |
 * |---|---|---|
 * | hidden-format | answers need an undocumented notation | a rule that names it |
 * | missing-tool | commands must be run, and there is no shell | the shell among the tools |
 * | tool-order | two calculators, and the first only estimates | the other one first |
 * | context-limit | the model holds as many rules as it can; one more is forgotten | a skill, read when needed |
 * | contradicting-rule | one rule contradicts another | removing it |
 * | user-preference | one person wants capitals, another does not | a skill about that person's questions |
 * | flaky-grader | the grader is sometimes silent or wrong | a rule |
 * | drifting-tasks | three of four patterns in the handbook change | the new patterns, without losing the others |
 * | missing-knowledge | questions about unknown facts | the handbook with the patterns behind them |
 */
import { FIXES } from '../../plugins/runtimes/practice/lessons.ts'
import type { Fix } from '../../plugins/runtimes/practice/lessons.ts'
import {
  arithmetic,
  drifted,
  factsOf,
  handbookOf,
  jsonField,
  lookup,
  problemsOf,
  reversing,
  reversingInCapitals,
  roman,
  shell,
  story,
} from './problems.ts'
import { ALIKE_WORLDS } from './alike.ts'
import { DISTURBED_WORLDS } from './disturbed.ts'
import { FEEDBACK_WORLDS } from './feedback.ts'
import { GAP_WORLDS } from './gaps.ts'
import { SCORE_WORLDS } from './scores.ts'
import { SPARSE_WORLDS } from './sparse.ts'
import { changed, created, removed, rule, settings, skill, splitOf, TASKS, TRAIN_TASKS, worldOf } from './world.ts'
import type { WorldTask, World } from './world.ts'

/** Modest or sparse gaps: 15 to 60 points, as often as not in several pieces, and much that disturbs. */
export const MODEST: Readonly<Record<string, (seed: string) => World>> = {
  ...ALIKE_WORLDS,
  ...SPARSE_WORLDS,
  ...GAP_WORLDS,
  ...FEEDBACK_WORLDS,
  ...DISTURBED_WORLDS,
  ...SCORE_WORLDS,
}

export const WIDE: Readonly<Record<string, (seed: string) => World>> = {
  'hidden-format': (seed) =>
    worldOf(seed, problemsOf(roman, seed, TASKS), {
      start: [lesson('answer-line')],
      good: waysToTeach('subtractive'),
      isTeachable: true,
    }),

  'missing-tool': (seed) =>
    worldOf(seed, problemsOf(shell, seed, TASKS), {
      start: [lesson('answer-line'), lesson('use-tools')],
      good: [[created(settings('tools', { tools: ['shell'] }))], [created(settings('tools', { tools: ['calculator', 'shell'] }))]],
      decoys: [[created(settings('tools', { tools: ['calculator'] }))]],
    }),

  'tool-order': (seed) =>
    worldOf(seed, problemsOf(arithmetic, seed, TASKS), {
      start: [lesson('answer-line'), settings('tools', { tools: ['rough_calculator', 'calculator'] })],
      good: [
        [changed(settings('tools', { tools: ['calculator', 'rough_calculator'] }))],
        [changed(settings('tools', { tools: ['calculator'] }))],
      ],
      decoys: [[changed(settings('tools', { tools: ['rough_calculator', 'shell', 'calculator'] }))]],
    }),

  'context-limit': (seed) =>
    worldOf(seed, problemsOf(reversing, seed, TASKS), {
      start: CROWD.map(lesson),
      good: [[created(skill('reversing', 'Read this before reversing a text.', wordingOf('reverse-letters')))]],
      decoys: [[created(rule('decoy-reverse', wordingOf('reverse-letters')))]],
      isTeachable: true,
    }),

  'contradicting-rule': (seed) =>
    worldOf(seed, problemsOf(story, seed, TASKS), {
      start: [lesson('answer-line'), lesson('every-step'), rule('house-style', 'Round every number in your answers to the nearest ten.')],
      good: [[removed('house-style')], [changed(rule('house-style', 'Do not round numbers.'))]],
      decoys: [[created(rule('decoy-exact', 'Numbers must be exact, to the last digit.'))]],
    }),

  'user-preference': (seed) => {
    const [ada, bob] = [problemsOf(reversingInCapitals, seed, TASKS), problemsOf(jsonField, seed, TASKS)]
    return worldOf(seed, mixed(ada, bob, ADA_ASKS), {
      start: [lesson('answer-line'), lesson('reverse-letters'), lesson('json-path')],
      good: [[created(skill('reversing', 'Read this before reversing a text.', 'Write all answers in capital letters.'))]],
      decoys: [[created(rule('decoy-capitals', 'Write all answers in capital letters.'))]],
    })
  },

  'flaky-grader': (seed) =>
    worldOf(seed, problemsOf(reversingInCapitals, seed, TASKS), {
      start: [lesson('answer-line'), lesson('reverse-letters')],
      good: [[created(rule('capitals', 'Write all answers in capital letters.'))], [created(rule('capitals', 'Answer in upper case.'))]],
      flakiness: { silent: 0.1, wrong: 0.1 },
    }),

  'drifting-tasks': (seed) => {
    const before = problemsOf(lookup, seed, TASKS)
    const after = before.map(drifted)
    return {
      ...worldOf(seed, after, {
        start: [lesson('answer-line'), skill('handbook', 'The team handbook.', handbookOf(before))],
        good: [[changed(skill('handbook', 'The team handbook.', handbookOf(after)))]],
        decoys: [[changed(skill('handbook', 'The team handbook.', factsOf(after.slice(0, TRAIN_TASKS))))]],
      }),
      phases: [splitOf(before).phase, splitOf(after, DRIFT_EPISODE).phase],
    }
  },

  'missing-knowledge': (seed) => {
    const problems = problemsOf(lookup, seed, TASKS)
    return worldOf(seed, problems, {
      start: [lesson('answer-line')],
      good: [[created(skill('handbook', 'The team handbook.', handbookOf(problems)))]],
      decoys: [[created(skill('decoy-handbook', 'The team handbook.', factsOf(problems.slice(0, TRAIN_TASKS))))]],
    })
  },
}

/** When facts change. */
const DRIFT_EPISODE = 30
/** The share of questions from the person who wants capitals. */
const ADA_ASKS = 0.5
/** As many lessons as the model can hold, none about reversing. */
const CROWD = [
  'answer-line',
  'precedence',
  'state-units',
  'exact-factors',
  'calendar',
  'count-each',
  'numeric-order',
  'keep-duplicates',
] as const satisfies readonly Fix[]

const wordingsOf = (name: Fix): readonly string[] => FIXES.find((fix) => fix.name === name)?.wording ?? []
const wordingOf = (name: Fix): string => wordingsOf(name)[0] ?? ''
const lesson = (name: Fix): World['start'][number] => rule(`know-${name}`, wordingOf(name))

const waysToTeach = (name: Fix): World['good'] => wordingsOf(name).map((text, index) => [created(rule(`good-${name}-${index + 1}`, text))])

/** Mixes the two lists evenly by the share. */
const mixed = (one: readonly WorldTask[], other: readonly WorldTask[], share: number): readonly WorldTask[] =>
  one.map((problem, at) => (isMixedIn(at, share) ? problem : (other[at] ?? problem)))

const isMixedIn = (at: number, share: number): boolean => Math.floor((at + 1) * share) > Math.floor(at * share)
