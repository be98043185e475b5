/** Admits mutations of a tree, all of them or none, and parses proposals of them. */
import { z } from 'zod'
import {
  invalid,
  isRefusal,
  PROPOSAL_BYTES_MAX,
  PROPOSAL_MUTATIONS_MAX,
  RESERVED_ENTRIES,
  type Adapter,
  type Entry,
  type Json,
  type JsonObject,
  type Mutation,
} from '../contract/index.ts'
import { MUTATIONS_RULE, proposalAccount, proposedMutations } from '../contract/wire/index.ts'
import { codeParsesBeside } from './code.ts'
import { brokenRule } from './fields.ts'
import { CHECKED_HERE, entryProblem, idProblem, shapeProblem, type LongChecks } from './kinds.ts'
import { credentialsAmong } from './texts.ts'
import { contentOf, plainEntry } from './tree.ts'

export type AdmittedTree =
  | { readonly admitted: true; readonly entries: readonly Entry[] }
  | { readonly admitted: false; readonly reason: string }

/** The changed tree, or the rule that the first bad mutation breaks. */
export function admit(adapter: Adapter, entries: readonly Entry[], mutations: readonly Mutation[], checks = CHECKED_HERE): AdmittedTree {
  const malformed = listProblem(mutations)
  if (malformed !== null) return { admitted: false, reason: malformed }
  const check = (entry: Entry): string | null => entryProblem(adapter, entry, checks)
  let tree = entries
  for (const [index, mutation] of mutations.entries()) {
    const changed = changedTree(check, tree, mutation, `mutations[${index}]`)
    if (typeof changed === 'string') return { admitted: false, reason: changed }
    tree = changed
  }
  const reason = renderProblem(adapter, tree)
  return reason === null ? { admitted: true, entries: tree } : { admitted: false, reason }
}

/** The same without blocking the thread: texts are screened and code is parsed beside it, code last. */
export async function admitBeside(adapter: Adapter, entries: readonly Entry[], mutations: readonly Mutation[]): Promise<AdmittedTree> {
  const codes = new Set<string>()
  const texts = new Set<string>()
  const noted: LongChecks = { parses: (code) => codes.add(code).size > 0, looksLikeKey: (text) => texts.add(text).size === 0 }
  const outline = admit(adapter, entries, mutations, noted)
  if (!outline.admitted) return outline
  const keys = await credentialsAmong(texts)
  const parsing = new Set<string>()
  for (const code of keys.size > 0 ? [] : codes) {
    if (!(await codeParsesBeside(code))) break
    parsing.add(code)
  }
  if (keys.size === 0 && parsing.size === codes.size) return outline
  return admit(adapter, entries, mutations, {
    parses: (code) => keys.size > 0 || parsing.has(code),
    looksLikeKey: (text) => keys.has(text),
  })
}

/** Checks the outline of an untrusted list; admission checks the rest. */
export function parseMutations(value: Json): readonly Mutation[] {
  const problem = listProblem(value)
  if (problem !== null) throw invalid('bad_mutations', problem)
  return z.array(z.custom<Mutation>()).parse(value)
}

const mutationList = z
  .array(
    z.looseObject(
      {
        op: z.string({ error: 'must be create, update or remove' }).meta({ description: 'create, update or remove' }),
        id: z.string({ error: 'must be the id of the entry, as text' }),
        options: z.looseObject({}, { error: 'must be an object {name, config, disabled}' }).nullish(),
      },
      { error: 'must be an object {op, id, options}' },
    ),
    { error: MUTATIONS_RULE },
  )
  .min(1, { error: MUTATIONS_RULE })
  .max(PROPOSAL_MUTATIONS_MAX, { error: MUTATIONS_RULE })

const listProblem = (value: unknown): string | null => brokenRule(mutationList, value, 'mutations')

/** An untrusted mutation. */
interface Asked {
  readonly op: string
  readonly id: string
  readonly options?: Partial<Omit<Entry, 'id'>> | null
}

/** A change may not say who wrote it, or lift a person's protection. */
const ORIGIN_FIELDS = ['author', 'protected'] as const

type Check = (entry: Entry) => string | null

function changedTree(check: Check, tree: readonly Entry[], { op, id, options }: Asked, at: string): readonly Entry[] | string {
  const problem = idProblem(id)
  if (problem !== null) return `${at}.${problem}`
  if (isReserved(id)) return `${at}: ${id} is reserved for the service, and no mutation may change it`
  if (options && ORIGIN_FIELDS.some((field) => Object.hasOwn(options, field)))
    return `${at}.options must not hold ${ORIGIN_FIELDS.join(' or ')}: the service sets them; leave them out`
  const shape = shapeProblem({ id, name: '', config: {}, ...options })
  if (shape !== null) return `${at}.options: ${shape}`
  const old = tree.find((entry) => entry.id === id)
  if (op === 'create') return old === undefined ? created(check, tree, id, options, at) : `${at}: ${id} exists already; update it instead`
  if (op !== 'update' && op !== 'remove') return `${at}.op must be create, update or remove`
  if (old === undefined) return `${at}: there is no entry ${id} to ${op}`
  return op === 'update' ? updated(check, tree, old, options, at) : removed(tree, id, options, at)
}

export const isReserved = (id: string): boolean => RESERVED_ENTRIES.some((reserved) => reserved === id)

function created(check: Check, tree: readonly Entry[], id: string, options: Asked['options'], at: string): readonly Entry[] | string {
  const { name, config, disabled = false } = options ?? {}
  if (name === undefined || config === undefined) return `${at}.options must hold the new entry's name and config`
  const entry = plainEntry({ id, name, config, disabled })
  return check(entry) ?? [...tree, entry]
}

/** Omitted fields stay unchanged. */
function updated(check: Check, tree: readonly Entry[], old: Entry, options: Asked['options'], at: string): readonly Entry[] | string {
  if (!options) return `${at}.options must hold what is to change`
  const entry = plainEntry({ ...old, ...options, id: old.id })
  if (entry.name !== old.name) return `${at}: ${old.id} is of kind ${old.name} and stays so; remove it and create another`
  return check(entry) ?? tree.map((each) => (each.id === old.id ? entry : each))
}

function removed(tree: readonly Entry[], id: string, options: Asked['options'], at: string): readonly Entry[] | string {
  return options ? `${at}.options must be left out when an entry is removed` : tree.filter((entry) => entry.id !== id)
}

function renderProblem(adapter: Adapter, tree: readonly Entry[]): string | null {
  try {
    contentOf(adapter, tree)
    return null
  } catch (error) {
    if (isRefusal(error)) return error.message
    throw error
  }
}

export interface NewProposal {
  readonly mutations: readonly Mutation[]
  readonly reason: string
  readonly session: string
  readonly release_id: string
}

/** Throws Refusal 'invalid' for what is no proposal; fields of others are dropped. */
export function parseProposal(body: JsonObject): NewProposal {
  if (Buffer.byteLength(JSON.stringify(body)) > PROPOSAL_BYTES_MAX)
    throw badProposal(`a proposal must be at most ${PROPOSAL_BYTES_MAX} bytes of JSON; propose less at once`)
  return { mutations: mutationsIn(body['mutations'] ?? null), ...accountIn(body) }
}

const badProposal = (message: string): Error => invalid('bad_proposal', message)

function mutationsIn(value: Json): readonly Mutation[] {
  const problem = brokenRule(proposedMutations, value, 'mutations')
  if (problem !== null) throw badProposal(problem)
  return parseMutations(value)
}

function accountIn(body: JsonObject): z.infer<typeof proposalAccount> {
  const { success, data, error } = proposalAccount.safeParse(body)
  if (success) return data
  const [issue] = error.issues
  throw badProposal(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not acceptable'}`)
}
