/** The archive of tried edits, their scores and outcomes, kept in memory between steps within bounds. */
import { hash } from 'node:crypto'
import { z } from 'zod'
import { canonicalJson, isObject, type Brief, type Entry, type Json, type JsonObject, type Mutation } from '../../../src/contract/index.ts'

const CANDIDATES_KEPT_MAX = 24
const MEMORY_BYTES_MAX = 200 * 1024
const TASKS_KEPT_MAX = 500
/** How many recent scores of a task are kept. */
const SCORES_KEPT_MAX = 3
/** Memory of another version is ignored. */
const SHAPE = 'reflect/1'

export interface ReflectArchive {
  /** How many times this proposer has run. */
  readonly round: number
  /** The id of the tree that this step starts from. */
  readonly base: string
  readonly tasks: readonly TaskPast[]
  readonly candidates: readonly EditCandidate[]
}
/** The served tree's recent scores on a task, newest last. */
export interface TaskPast {
  readonly task: string
  readonly recent: readonly number[]
}
export interface EditCandidate {
  /** A hash of its mutations. */
  readonly id: string
  readonly mutations: readonly Mutation[]
  /** Why and how, in the model's words. */
  readonly design: string
  readonly reflection: string
  readonly requires: readonly Json[]
  readonly parents: readonly string[]
  readonly round: number
  /** The id of the tree that its scores were measured on. */
  readonly base: string
  /** `shelved`: never offered. `unknown`: offered, result not known. */
  readonly outcome: 'shelved' | 'unknown' | 'published' | 'rejected'
  readonly scores: readonly TaskScore[]
}
export interface TaskScore {
  readonly task: string
  readonly score: number
  /** The score without the change. */
  readonly current: number
}

/** Reads the archive and keeps the candidates that still apply to this tree. */
export function openArchive({
  memory,
  entries,
  rejected,
  check,
}: Pick<Brief, 'memory' | 'entries' | 'rejected' | 'check'>): ReflectArchive {
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
  readonly candidates: readonly EditCandidate[]
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

function outcomeOf(
  { id, mutations, outcome }: EditCandidate,
  entries: readonly Entry[],
  refused: ReadonlySet<string>,
): EditCandidate['outcome'] {
  if (holds(entries, mutations)) return 'published'
  return refused.has(id) ? 'rejected' : outcome
}

const holds = (entries: readonly Entry[], mutations: readonly Mutation[]): boolean =>
  mutations.every((mutation) => {
    const entry = entries.find(({ id }) => id === mutation.id)
    if (mutation.op === 'remove') return entry === undefined
    return entry !== undefined && treeId([{ ...entry, ...mutation.options }]) === treeId([entry])
  })

/** A shelved candidate without gain says nothing about another tree, where it may help. */
const isTelling = (candidate: EditCandidate, base: string): boolean =>
  candidate.base === base || candidate.outcome === 'rejected' || gainOf(candidate) > 0

/** Its gain over the tree without it, summed over its tasks. */
export const gainOf = ({ scores }: Pick<EditCandidate, 'scores'>): number =>
  scores.reduce((sum, { score, current }) => sum + score - current, 0)

/** Adds a candidate, replacing an earlier one with the same mutations. */
export const withCandidate = (archive: ReflectArchive, candidate: EditCandidate): ReflectArchive => ({
  ...archive,
  candidates: [...archive.candidates.filter(({ id }) => id !== candidate.id), candidate],
})

/** Adds one score of the served tree. */
export function withScore(archive: ReflectArchive, task: string, score: number): ReflectArchive {
  const before = archive.tasks.find((past) => past.task === task)?.recent ?? []
  const recent = [...before, score].slice(-SCORES_KEPT_MAX)
  return { ...archive, tasks: [...archive.tasks.filter((past) => past.task !== task), { task, recent }] }
}

/** Prints the archive as memory: the best candidates of each task first, then the newest, as many as fit. */
export function memoryOf(archive: ReflectArchive): JsonObject {
  const { round, candidates } = archive
  const tasks = archive.tasks.slice(-TASKS_KEPT_MAX)
  const ranked = candidates.toSorted(
    (a, b) => Number(isBestSomewhere(b, candidates)) - Number(isBestSomewhere(a, candidates)) || b.round - a.round,
  )
  const shell = { shape: SHAPE, round, tasks, candidates: [] }
  if (bytesOf(shell) > MEMORY_BYTES_MAX) return { shape: SHAPE, round, tasks: [], candidates: [] }
  const kept: EditCandidate[] = []
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

const isBestSomewhere = ({ scores }: EditCandidate, candidates: readonly EditCandidate[]): boolean =>
  scores.some(({ task, score, current }) => score > current && candidates.every((other) => (scoreOn(other, task) ?? score) <= score))

export const scoreOn = ({ scores }: EditCandidate, task: string): number | undefined => scores.find((each) => each.task === task)?.score
