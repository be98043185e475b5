/** The change of a step: the oldest proposal of the inbox, else what the proposer writes; admitted, or the reason why there is none. */
import { isDeepStrictEqual } from 'node:util'
import type { Brief, Entry, Json, JsonObject, Mutation, Task, Trial } from '../contract/index.ts'
import { admit, contentOf } from '../harness/index.ts'
import { cacheKey } from './cache.ts'
import type { Choice } from './choose-tasks.ts'
import { othersIn, type Run } from './run.ts'
import { exposedBy } from './tasks/index.ts'
import { runsCode, touchedEntries } from './touched.ts'

export interface Found {
  readonly mutations: readonly Mutation[]
  readonly requires: readonly Json[]
  /** The id of the proposal it came as. */
  readonly proposalId: string | null
}
export interface Candidate extends Found {
  readonly entries: readonly Entry[]
}
type Skip = { readonly skip: string }

const NO_PROPOSAL = 'no proposal'
/** Both are kept in rows: a memory that is larger is as it was before, notes that are larger are not told. */
const MEMORY_BYTES_MAX = 1024 * 1024
const NOTES_BYTES_MAX = 256 * 1024
const bytesOf = (value: JsonObject): number => Buffer.byteLength(JSON.stringify(value))

export async function findCandidate(run: Run, choice: Choice): Promise<Found | Skip> {
  // A person's request is what its step is about; proposals wait for the next.
  const claimed = run.order.batch.request === null ? await run.workshop.inbox.claim() : null
  if (claimed === null) return ask(run, choice)
  const { proposal_id: id, session, release_id, reason, mutations } = claimed
  run.metrics['proposal'] = { id, session, release_id, reason }
  run.origin = { claimed: id }
  run.report.line('proposer', `takes up proposal ${id}`)
  return { mutations, requires: [], proposalId: id }
}

async function ask(run: Run, choice: Choice): Promise<Found | Skip> {
  const { unplayed, method } = run.workshop
  const kept = await unplayed.find(questionOf(run))
  if (kept !== null) run.report.line('proposer', 'takes up what was proposed before, when nothing could be played')
  const proposal = kept ?? (await method.proposer.propose(briefOf(run, choice)))
  if (proposal !== null) run.origin = { answer: proposal }
  const { mutations = [], requires = [], notes, memory } = proposal ?? {}
  if (memory !== undefined && bytesOf(memory) <= MEMORY_BYTES_MAX) run.state = { ...run.state, memory }
  if (notes !== undefined && Object.keys(notes).length > 0)
    run.metrics['proposal_notes'] = bytesOf(notes) <= NOTES_BYTES_MAX ? notes : { dropped: 'the notes were larger than a row should be' }
  if (mutations.length === 0) return { skip: NO_PROPOSAL }
  return { mutations, requires, proposalId: null }
}

/** What a proposer is asked in a step: the same batch on the same tree. */
export const questionOf = ({ order, workshop }: Run): string => cacheKey([workshop.component, order.batch.id, order.files])

function briefOf(run: Run, { shown, train }: Choice): Brief {
  const { workshop, order, entries, models, report, signal, state } = run
  return {
    adapter: workshop.adapter,
    entries,
    samples: shown,
    request: order.batch.request,
    models: models.models,
    tasks: train,
    rejected: state.rejected,
    memory: state.memory,
    check: (mutations) => refusalOf(run, mutations),
    trial: trials(run),
    report,
    signal,
  }
}

/** Why these changes are none that could be played, or null. */
function refusalOf(run: Run, mutations: readonly Mutation[]): string | null {
  const admitted = treeOf(run, mutations)
  return typeof admitted === 'string' ? admitted : null
}

function treeOf({ workshop, entries }: Run, mutations: readonly Mutation[]): readonly Entry[] | string {
  const { adapter, method } = workshop
  const admitted = admit(adapter, entries, mutations)
  if (!admitted.admitted) return admitted.reason
  const code =
    method.codeProblem === null ? undefined : touchedEntries(entries, admitted.entries).after.find((entry) => runsCode(adapter, entry))
  return code === undefined ? admitted.entries : `${code.id}: code that a model wrote is not run here: ${method.codeProblem}`
}

/** The same change tried on the same task again is another roll of the dice. */
function trials(run: Run): Brief['trial'] {
  const tried = new Map<string, number>()
  return async (mutations: readonly Mutation[], task: Task): Promise<Trial> => {
    const tree = mutations.length === 0 ? run.entries : treeOf(run, mutations)
    if (typeof tree === 'string') return { score: null, failure: tree, episode: null }
    const key = JSON.stringify([mutations, task.name, task.prompt])
    const repeat = tried.get(key) ?? 0
    tried.set(key, repeat + 1)
    run.report.line('trial', `plays ${task.name}`)
    const told = await run.players.play('trial', tree, task, repeat, null)
    if (told === null) throw new Error('the step has no episodes left; raise evolution.max_episodes_per_step')
    run.report.line('trial', `${task.name}: ${told.score ?? 'no score'}`, told.score === null)
    return { score: told.score, failure: told.failure, episode: told.episode }
  }
}

export async function admitCandidate(run: Run, { gate }: Choice, found: Found): Promise<Candidate | Skip> {
  const { record, report } = run
  await record?.write('mutations.json', found.mutations.map(jsonOf))
  run.metrics[found.mutations.length === 1 ? 'mutation' : 'mutations'] =
    found.mutations.length === 1 ? jsonOf(found.mutations[0]) : found.mutations.map(jsonOf)
  const tree = treeToPlay(run, gate, found)
  if (typeof tree === 'string') return refused(run, found, tree)
  report.line('check', `admitted: ${found.mutations.map(({ op, id }) => `${op} ${id}`).join(', ')}`)
  return { ...found, entries: tree }
}

/** Or the reason why there is none. */
function treeToPlay(run: Run, gate: readonly Task[], found: Found): readonly Entry[] | string {
  const tree = treeOf(run, found.mutations)
  if (typeof tree === 'string') return tree
  if (isSame(run, tree)) return 'nothing would change'
  return heldOutProblem(run, gate, found) ?? repeatProblem(run, gate, found) ?? tree
}

/**
 * Whoever writes down a task by which it is measured has not become better at anything. Not said by `check`, of which a proposer may ask as often
 * as it likes; and what a person asks for is not measured by being better.
 */
function heldOutProblem({ order: { batch } }: Run, gate: readonly Task[], { mutations }: Found): string | null {
  const written = { record_ids: [], exchanges: mutations.map(jsonOf), score: null, feedback: null }
  return batch.request === null && exposedBy([written], gate).length > 0 ? 'it holds the text of a task that is kept from proposers' : null
}

/** Asked again, the gate would say the same and trust the next change less. */
function repeatProblem(run: Run, gate: readonly Task[], { mutations }: Found): string | null {
  const { state, order } = run
  const here = caseOf(run, gate)
  const before = state.rejected.some((one) => one.case === here && isDeepStrictEqual(one.mutations, mutations.map(jsonOf)))
  return order.batch.request === null && before
    ? 'it was turned down before, and neither what is served nor what it is measured by has changed since'
    : null
}

/** What is served, and what it is measured by: the same change comes out the same there. */
export const caseOf = ({ order, workshop }: Run, gate: readonly Task[]): string =>
  cacheKey([order.files, othersIn(order.base, workshop.component), ...gate.map(({ name, prompt }) => ({ name, prompt }))])

function isSame({ workshop: { adapter }, entries }: Run, tree: readonly Entry[]): boolean {
  return JSON.stringify(contentOf(adapter, entries)) === JSON.stringify(contentOf(adapter, tree))
}

/** A proposal of the inbox is settled with it; whoever proposes next is shown it. */
async function refused(run: Run, found: Found, reason: string): Promise<Skip> {
  run.report.line('check', reason, true)
  if (found.proposalId !== null) await run.workshop.inbox.refuse(found.proposalId, reason)
  run.state = { ...run.state, rejected: [...run.state.rejected, { step: run.order.step, mutations: found.mutations, reason }] }
  return { skip: `refused: ${reason}` }
}

const jsonOf = (mutation: Mutation | undefined): JsonObject => JSON.parse(JSON.stringify(mutation ?? {}))
