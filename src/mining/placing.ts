/** Places a task among those that are there: near duplicates share family and role, and other tasks of a module share a family and are split over the roles by a seed. */
import { MINED_PROMPT_ENDS, type MinedTask, type TaskRole } from '../contract/index.ts'
import { chanceOf, compact, sharedShare, shinglesOf } from '../kit/index.ts'
import type { Placement } from './folder.ts'

export interface Placed extends Placement {
  readonly module: string
  readonly shingles: ReadonlySet<number>
}

/** The share of each role. */
const SHARES: readonly (readonly [TaskRole, number])[] = [
  ['gate', 0.4],
  ['train', 0.3],
  ['sealed', 0.2],
  ['regression', 0.1],
]
/** Two tasks are near duplicates when they share this much of what both say. */
const ALIKE_SHARE = 0.6

const ENDS: ReadonlySet<string> = new Set(Object.values(MINED_PROMPT_ENDS))
const asked = (prompt: string): string =>
  prompt
    .split('\n\n')
    .filter((paragraph) => !ENDS.has(paragraph))
    .join('\n')

/** What a task says: what was asked, and where one is known the change that solves it. */
export const textOf = (
  { prompt, reference }: Pick<MinedTask, 'prompt' | 'reference'>,
  workspace: Readonly<Record<string, string>> = {},
): ReadonlySet<number> =>
  shinglesOf(
    compact(
      [asked(prompt), ...Object.entries(reference?.files ?? {}).map(([path, text]) => addedLines(workspace[path] ?? '', text))].join('\n'),
    ),
  ).hashes

/** Only new lines: the rest of a file is the same in every task on it. */
function addedLines(before: string, after: string): string {
  const old = new Set(before.split('\n'))
  return after
    .split('\n')
    .filter((line) => !old.has(line))
    .join('\n')
}

const areAlike = (a: ReadonlySet<number>, b: ReadonlySet<number>): boolean => sharedShare(a, b) >= ALIKE_SHARE

/** Near duplicates among others. */
export const twinsOf = <Other extends Placed>({ shingles }: Pick<Placed, 'shingles'>, others: readonly Other[]): readonly Other[] =>
  others.filter((other) => areAlike(other.shingles, shingles))

/** Null where it is alike to tasks on both sides of the held-out line: wherever it stood, it would carry one side to the other. */
export function place(
  task: Omit<Placed, keyof Placement> & { readonly origin: string },
  others: readonly Placed[],
  seed: string,
): Placement | null {
  const twins = twinsOf(task, others)
  const sides = new Set(twins.map(({ role }) => role === 'train'))
  if (sides.size > 1) return null
  const [twin] = twins
  if (twin !== undefined) return { role: twin.role, family: twin.family }
  // Tasks of one module move together: in two families they would be counted as two pieces of evidence.
  const family = others.find(({ module }) => module === task.module)?.family ?? familyName(task.module, others)
  return { role: roleFor(family, others, `${seed}\0${task.origin}`), family }
}

/** A family of a person's keeps its name to itself. */
function familyName(module: string, others: readonly Placed[]): string {
  const taken = new Set(others.map(({ family }) => family))
  const plain =
    module
      .replaceAll('/', '.')
      .replaceAll(/[^\w.-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, NAME_CHARACTERS_MAX) || 'tasks'
  for (let n = 1; ; n += 1) {
    const name = n === 1 ? plain : `${plain}-${n}`
    if (!taken.has(name)) return name
  }
}
const NAME_CHARACTERS_MAX = 80

/** Without a task of each of these nothing can be learnt. */
const NEEDED: readonly TaskRole[] = ['gate', 'train']
/** With fewer families in the gate not even a first change can be proved. */
const GATE_FAMILIES_MIN = 5

/** The role that lacks most in the family and over all, of those that it may have, with some chance in it. */
function roleFor(family: string, others: readonly Placed[], key: string): TaskRole {
  const inFamily = others.filter((other) => other.family === family)
  const wanted = rolesWanted(family, others)
  const choices = SHARES.filter(([role]) => wanted.includes(role)).map(([role, share]) => ({
    role,
    lack: lackOf(inFamily, role, share) + lackOf(others, role, share) / 2 + CHANCE * chanceOf(`${key}\0${role}`),
  }))
  return choices.toSorted((a, b) => b.lack - a.lack)[0]?.role ?? 'gate'
}
const CHANCE = 0.6

function rolesWanted(family: string, others: readonly Placed[]): readonly TaskRole[] {
  const needed = NEEDED.filter((role) => !others.some((other) => other.role === role))
  if (needed.length > 0) return needed
  const ofGate = new Set(others.flatMap((other) => (other.role === 'gate' ? [other.family] : [])))
  return ofGate.size < GATE_FAMILIES_MIN && !ofGate.has(family) ? ['gate'] : SHARES.map(([role]) => role)
}

const lackOf = (placed: readonly Placed[], role: TaskRole, share: number): number =>
  share * (placed.length + 1) - placed.filter((each) => each.role === role).length
