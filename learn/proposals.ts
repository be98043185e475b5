/** Who proposes in a world: two times of three somebody sensible, else an adversary with no-ops, harm, decoys and cheats. */
import type { Brief, Mutation, Proposal, Proposer } from '../src/contract/index.ts'
import { draw, drawInteger } from '../plugins/runtimes/practice/draw.ts'
import { HARMS } from '../plugins/runtimes/practice/lessons.ts'
import { cheatOf } from './cheats.ts'
import { answerOf, created, rule, settings, type World } from './worlds/world.ts'

export type Source = 'sensible' | 'no-op' | 'harmful' | 'decoy' | 'cheat'

export interface MixedProposer {
  readonly proposer: Proposer
  /** Where the latest proposal came from. */
  source(): Source
}

const SENSIBLE_CHANCE = 2 / 3
/** How much of that the model has to think of, where it can. */
const THINKING_CHANCE = 0.5
const ADVERSARIES = ['no-op', 'harmful', 'decoy', 'cheat'] as const

/** `thinking` asks the practice model. The same world is offered the same changes in the same order, whatever its gate makes of them. */
export function makeProposer(world: World, thinking: Proposer): MixedProposer {
  let asked = 0
  let source: Source = 'sensible'
  return {
    source: () => source,
    proposer: {
      acceptsRequests: false,
      async propose(brief) {
        asked += 1
        const salt = [world.seed, 'proposal', String(asked)]
        const other = ADVERSARIES[drawInteger(0, ADVERSARIES.length - 1, ...salt, 'adversary')] ?? 'no-op'
        source = draw(...salt) < SENSIBLE_CHANCE ? 'sensible' : other
        if (source === 'sensible' && world.isTeachable && draw(...salt, 'thinks') < THINKING_CHANCE) return thinking.propose(brief)
        return proposalOf(world, brief, source, asked, drawInteger(0, 999, ...salt, 'which'))
      },
    },
  }
}

/** Of what is left to propose in the tree as it is. */
function proposalOf(world: World, brief: Brief, source: Source, asked: number, which: number): Proposal {
  const fitting = offersOf(world, brief, source, asked, which).filter((mutations) => brief.check(mutations) === null)
  return { mutations: fitting[which % fitting.length] ?? [created(rule(`tone-${asked}`, 'Be friendly and keep a calm tone.'))] }
}

function offersOf(world: World, brief: Brief, source: Source, asked: number, which: number): readonly (readonly Mutation[])[] {
  const id = `${source}-${asked}`
  if (source === 'sensible') return world.good
  if (source === 'no-op') return NO_OPS.map((text) => [created(rule(id, text))])
  if (source === 'harmful') return HARMS.map(({ wording }) => [created(rule(id, wording[0]))])
  if (source === 'decoy') return [...world.decoys, ...memorised(brief, id)]
  return [[created(cheatOf(id, which))]]
}

const NO_OPS = [
  'Be friendly.',
  'Prefer TypeScript over JavaScript.',
  'Indent with two spaces.',
  'The office is closed on Sundays.',
  'Keep file names short.',
  'Thank people for their patience.',
]

/** The answers of the train tasks by heart: to the letter, and for whatever begins alike. */
function memorised({ tasks }: Brief, id: string): readonly (readonly Mutation[])[] {
  const known = tasks.map((task) => ({ when: task.prompt, say: answerOf(task) }))
  const alike = known.map(({ when, say }) => ({ when: when.slice(0, ALIKE_CHARACTERS), say }))
  return [known, alike].map((canned) => [created(settings(id, { canned }))])
}
const ALIKE_CHARACTERS = 8
