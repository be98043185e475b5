/** What was tried before, for whom it did better, and what became of it: kept from one step to the next within bounds. */
import { hash } from 'node:crypto'
import { z } from 'zod'
import { canonicalJson, isObject, type Brief, type Entry, type Json, type JsonObject, type Mutation } from '../../../src/contract/index.ts'

const CANDIDATES_KEPT_MAX = 24
const MEMORY_BYTES_MAX = 200 * 1024
const TASKS_KEPT_MAX = 500
/** The last scores of a task by which it counts as failing, wavering or solved. */
const SCORES_KEPT_MAX = 3
/** Memory that says otherwise was written by another version, and is not read. */
const SHAPE = 'reflect/1'

export interface Archive {
  /** How often this proposer was asked. */
  readonly round: number
  /** The tree that this step starts from. */
  readonly base: string
  readonly tasks: readonly TaskPast[]
  readonly candidates: readonly Candidate[]
}
/** How the served tree did on a task of late, the newest last. */
export interface TaskPast {
  readonly task: string
  readonly recent: readonly number[]
}
export interface Candidate {
  /** Of its changes: the same changes are the same candidate. */
  readonly id: string
  readonly mutations: readonly Mutation[]
  /** Why and how, in the words of whoever wrote it. */
  readonly design: string
  readonly reflection: string
  readonly requires: readonly Json[]
  readonly parents: readonly string[]
  readonly round: number
  /** The tree its scores were measured on. */
  readonly base: string
  /** `shelved`: never offered. `unknown`: offered, and nothing was heard of it. */
  readonly outcome: 'shelved' | 'unknown' | 'published' | 'rejected'
  readonly scores: readonly TaskScore[]
}
export interface TaskScore {
  readonly task: string
  readonly score: number
  /** What the tree without the change had there. */
  readonly current: number
}

/** What earlier rounds left that still means something on this tree. */
export function openArchive({ memory, entries, rejected, check }: Pick<Brief, 'memory' | 'entries' | 'rejected' | 'check'>): Archive {
  const base = treeId(entries)
  const past = readMemory(memory)
  const refused = new Set(rejected.map(({ mutations }) => editId(mutations)))
  const candidates = past.candidates
    .map((candidate) => ({ ...candidate, outcome: outcomeOf(candidate, entries, refused) }))
    .filter((candidate) => isTelling(candidate, base) && check(candidate.mutations) === null)
  return { round: past.round + 1, base, tasks: past.tasks, candidates }
}

export const treeId = (entries: readonly Entry[]): string => idOf(entries.map((entry) => ({ ...entry })))
export const editId = (mutations: readonly Mutation[]): string => idOf(mutations.map((mutation) => ({ ...mutation })))

const ID_CHARACTERS = 16
const idOf = (value: readonly object[]): string => {
  const plain: Json = JSON.parse(JSON.stringify(value))
  return hash('sha256', canonicalJson(plain)).slice(0, ID_CHARACTERS)
}

interface Memory {
  readonly round: number
  readonly tasks: readonly TaskPast[]
  readonly candidates: readonly Candidate[]
}
const count = z.int().min(0)
const finite = z.number()
const memorySchema: z.ZodType<Memory> = z.object({
  shape: z.literal(SHAPE),
  round: count,
  tasks: z.array(z.object({ task: z.string(), recent: z.array(finite).min(1).max(SCORES_KEPT_MAX) })).max(TASKS_KEPT_MAX),
  candidates: z
    .array(
      z.object({
        id: z.string(),
        mutations: z.array(z.custom<Mutation>(isMutation)).min(1),
        design: z.string(),
        reflection: z.string(),
        requires: z.array(z.json()),
        parents: z.array(z.string()),
        round: count,
        base: z.string(),
        outcome: z.enum(['shelved', 'unknown', 'published', 'rejected']),
        scores: z.array(z.object({ task: z.string(), score: finite, current: finite })),
      }),
    )
    .max(CANDIDATES_KEPT_MAX),
})

const readMemory = (memory: JsonObject): Memory => memorySchema.safeParse(memory).data ?? { round: 0, tasks: [], candidates: [] }

function isMutation(value: unknown): value is Mutation {
  const mutation: Json = value === undefined ? null : JSON.parse(JSON.stringify(value))
  if (!isObject(mutation) || typeof mutation['id'] !== 'string') return false
  if (mutation['op'] === 'remove') return true
  return (mutation['op'] === 'create' || mutation['op'] === 'update') && isObject(mutation['options'])
}

function outcomeOf({ id, mutations, outcome }: Candidate, entries: readonly Entry[], refused: ReadonlySet<string>): Candidate['outcome'] {
  if (holds(entries, mutations)) return 'published'
  return refused.has(id) ? 'rejected' : outcome
}

const holds = (entries: readonly Entry[], mutations: readonly Mutation[]): boolean =>
  mutations.every((mutation) => {
    const entry = entries.find(({ id }) => id === mutation.id)
    if (mutation.op === 'remove') return entry === undefined
    return entry !== undefined && treeId([{ ...entry, ...mutation.options }]) === treeId([entry])
  })

/** A candidate that was never offered and brought nothing says nothing about another tree: there it may be what was missing. */
const isTelling = (candidate: Candidate, base: string): boolean =>
  candidate.base === base || candidate.outcome === 'rejected' || gainOf(candidate) > 0

/** By how much it did better than the tree without it, over all tasks that both played. */
export const gainOf = ({ scores }: Pick<Candidate, 'scores'>): number =>
  scores.reduce((sum, { score, current }) => sum + score - current, 0)

/** The archive with a candidate in it, instead of what was known of the same changes. */
export const withCandidate = (archive: Archive, candidate: Candidate): Archive => ({
  ...archive,
  candidates: [...archive.candidates.filter(({ id }) => id !== candidate.id), candidate],
})

/** The archive with one more score of the served tree. */
export function withScore(archive: Archive, task: string, score: number): Archive {
  const before = archive.tasks.find((past) => past.task === task)?.recent ?? []
  const recent = [...before, score].slice(-SCORES_KEPT_MAX)
  return { ...archive, tasks: [...archive.tasks.filter((past) => past.task !== task), { task, recent }] }
}

/** The archive as memory: the best of each task first, then the rest from the newest on, as far as they fit. */
export function memoryOf(archive: Archive): JsonObject {
  const { round, candidates } = archive
  const tasks = archive.tasks.slice(-TASKS_KEPT_MAX)
  const ranked = candidates.toSorted(
    (a, b) => Number(isBestSomewhere(b, candidates)) - Number(isBestSomewhere(a, candidates)) || b.round - a.round,
  )
  const shell = { shape: SHAPE, round, tasks, candidates: [] }
  if (bytesOf(shell) > MEMORY_BYTES_MAX) return { shape: SHAPE, round, tasks: [], candidates: [] }
  const kept: Candidate[] = []
  let bytes = bytesOf(shell)
  for (const candidate of ranked.slice(0, CANDIDATES_KEPT_MAX)) {
    const more = bytesOf(candidate) + 1
    if (bytes + more > MEMORY_BYTES_MAX) continue
    bytes += more
    kept.push(candidate)
  }
  return JSON.parse(JSON.stringify({ ...shell, candidates: kept.toSorted((a, b) => a.round - b.round) }))
}

const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value))

const isBestSomewhere = ({ scores }: Candidate, candidates: readonly Candidate[]): boolean =>
  scores.some(({ task, score, current }) => score > current && candidates.every((other) => (scoreOn(other, task) ?? score) <= score))

export const scoreOn = ({ scores }: Candidate, task: string): number | undefined => scores.find((each) => each.task === task)?.score
