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

const count = z.int().min(0)
const finite = z.number()
const json: z.ZodType<Json> = z.json()

const taskPast = z.object({ task: z.string(), recent: z.array(finite).min(1).max(SCORES_KEPT_MAX).readonly() })
const candidate = z.object({
  /** A hash of its mutations. */
  id: z.string(),
  mutations: z.array(z.custom<Mutation>(isMutation)).min(1).readonly(),
  /** Why and how, in the model's words. */
  design: z.string(),
  reflection: z.string(),
  requires: z.array(json).readonly(),
  parents: z.array(z.string()).readonly(),
  round: count,
  /** The id of the tree that its scores were measured on. */
  base: z.string(),
  /** `shelved`: never offered. `unknown`: offered, result not known. */
  outcome: z.enum(['shelved', 'unknown', 'published', 'rejected']),
  /** `current` is the score without the change. */
  scores: z.array(z.object({ task: z.string(), score: finite, current: finite })).readonly(),
})
const memorySchema = z.object({
  shape: z.literal(SHAPE),
  /** How many times this proposer has run. */
  round: count,
  tasks: z.array(taskPast).max(TASKS_KEPT_MAX).readonly(),
  candidates: z.array(candidate).max(CANDIDATES_KEPT_MAX).readonly(),
})

/** The served tree's recent scores on a task, newest last. */
export type TaskPast = Readonly<z.infer<typeof taskPast>>
export type EditCandidate = Readonly<z.infer<typeof candidate>>
export interface ReflectArchive extends Readonly<Omit<z.infer<typeof memorySchema>, 'shape'>> {
  /** The id of the tree that this step starts from. */
  readonly base: string
}

/** Reads the archive and keeps the candidates that still apply to this tree. */
export function openArchive(brief: Brief): ReflectArchive {
  const { memory, entries, rejected } = brief
  const base = treeId(entries)
  const past = memorySchema.safeParse(memory).data ?? { round: 0, tasks: [], candidates: [] }
  const refused = new Set(rejected.map(({ mutations }) => editId(mutations)))
  const candidates = past.candidates
    .map((each): EditCandidate => {
      if (holds(entries, each.mutations)) return { ...each, outcome: 'published' }
      return refused.has(each.id) ? { ...each, outcome: 'rejected' } : each
    })
    .filter((each) => isTelling(each, base) && brief.check(each.mutations) === null)
  return { round: past.round + 1, base, tasks: past.tasks, candidates }
}

export const treeId = (entries: readonly Entry[]): string => idOf(entries.map((entry) => ({ ...entry })))
export const editId = (mutations: readonly Mutation[]): string => idOf(mutations.map((mutation) => ({ ...mutation })))

const ID_CHARACTERS = 16
const idOf = (value: readonly object[]): string => {
  const plain: Json = JSON.parse(JSON.stringify(value))
  return hash('sha256', canonicalJson(plain)).slice(0, ID_CHARACTERS)
}

function isMutation(value: unknown): value is Mutation {
  const mutation: Json = value === undefined ? null : JSON.parse(JSON.stringify(value))
  if (!isObject(mutation) || typeof mutation['id'] !== 'string') return false
  if (mutation['op'] === 'remove') return true
  return (mutation['op'] === 'create' || mutation['op'] === 'update') && isObject(mutation['options'])
}

const holds = (entries: readonly Entry[], mutations: readonly Mutation[]): boolean =>
  mutations.every((mutation) => {
    const entry = entries.find(({ id }) => id === mutation.id)
    if (mutation.op === 'remove') return entry === undefined
    return entry !== undefined && treeId([{ ...entry, ...mutation.options }]) === treeId([entry])
  })

/** A shelved candidate without gain says nothing about another tree, where it may help. */
const isTelling = (edit: EditCandidate, base: string): boolean => edit.base === base || edit.outcome === 'rejected' || gainOf(edit) > 0

/** Its gain over the tree without it, summed over its tasks. */
export const gainOf = ({ scores }: Pick<EditCandidate, 'scores'>): number =>
  scores.reduce((sum, { score, current }) => sum + score - current, 0)

/** Adds a candidate, replacing an earlier one with the same mutations. */
export const withCandidate = (archive: ReflectArchive, added: EditCandidate): ReflectArchive => ({
  ...archive,
  candidates: [...archive.candidates.filter(({ id }) => id !== added.id), added],
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
  for (const edit of ranked.slice(0, CANDIDATES_KEPT_MAX)) {
    const more = bytesOf(edit) + 1
    if (bytes + more > MEMORY_BYTES_MAX) continue
    bytes += more
    kept.push(edit)
  }
  return JSON.parse(JSON.stringify({ ...shell, candidates: kept.toSorted((a, b) => a.round - b.round) }))
}

const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value))

const isBestSomewhere = ({ scores }: EditCandidate, candidates: readonly EditCandidate[]): boolean =>
  scores.some(({ task, score, current }) => score > current && candidates.every((other) => (scoreOn(other, task) ?? score) <= score))

export const scoreOn = ({ scores }: EditCandidate, task: string): number | undefined => scores.find((each) => each.task === task)?.score
