/** Finds the change of a step (the oldest proposal in the inbox, else the proposer's) and admits or refuses it. */
import { isDeepStrictEqual } from 'node:util'
import type {
  Brief,
  Entry,
  EntryAuthor,
  Json,
  JsonObject,
  Mutation,
  PowerReason,
  Proposal,
  Task,
  TrainRequest,
  Trial,
} from '../contract/index.ts'
import { admit, authored, contentOf, renderTree, runsCode, touchedEntries } from '../harness/index.ts'
import { cacheKey } from './cache.ts'
import { isResumed, standingOf } from './cases.ts'
import type { TaskChoice } from './choose-tasks.ts'
import { judgedPowers } from './powers.ts'
import { personsNo } from './rejections.ts'
import type { StepRun } from './run.ts'
import { learnedByHeart } from './heldout/by-heart.ts'
import { NOT_RULES_ALONE, rulesAlone } from './hosts/words.ts'

export interface ProposedChange {
  readonly mutations: readonly Mutation[]
  readonly requires: readonly Json[]
  /** The id of the inbox proposal; null when the proposer wrote it. */
  readonly proposalId: string | null
  /** Only shown with the step. */
  readonly notes: JsonObject
  /** The token that it was proposed with, where that is not one of the configuration. */
  readonly askedBy?: TrainRequest['asked_by']
}
export interface HarnessCandidate extends ProposedChange {
  readonly entries: readonly Entry[]
  /** What it knows of held-out tasks; null for all but requests, which are held for review then. */
  readonly byHeart: string | null
  /** Why it has each of its powers. */
  readonly powers: readonly PowerReason[]
}
export type Skip = { readonly skip: string }

/** Rows hold both: a larger memory is not stored, larger notes are dropped. */
const MEMORY_BYTES_MAX = 1024 * 1024
const NOTES_BYTES_MAX = 256 * 1024
const bytesOf = (value: JsonObject): number => Buffer.byteLength(JSON.stringify(value))

export interface FoundChanges {
  readonly changes: readonly ProposedChange[]
  /** Whether they go through the screening first. */
  readonly isNew: boolean
}

/** One change, or several of the proposer where they are screened. */
export async function findCandidates(run: StepRun, choice: TaskChoice): Promise<FoundChanges | Skip> {
  // A step on a person's request takes no proposal.
  const claimed = run.order.batch.request === null ? await run.context.inbox.claim() : null
  if (claimed === null) return goesOn(run, choice) ?? ask(run, choice)
  const { proposal_id: id, session, release_id, reason, mutations, asked_by: askedBy } = claimed
  const asked = askedBy === undefined ? {} : { asked_by: askedBy }
  run.metrics['proposal'] = { id, session, release_id, reason, ...asked }
  run.origin = { claimed: id }
  run.report.line('proposer', `takes proposal ${id} from the inbox`)
  return { changes: [{ mutations, requires: [], proposalId: id, notes: {}, askedBy }], isNew: false }
}

/** The screened change of the step before, where its case is open; null where there is none. */
export function goesOn(run: StepRun, { gate }: TaskChoice): FoundChanges | null {
  const { proving } = run.state
  if (run.screening === null || proving === null) return null
  const { mutations, requires } = proving
  const tree = treeOf(run, mutations)
  if (typeof tree === 'string' || !isResumed(run, gate, tree)) {
    run.state = { ...run.state, proving: null }
    return null
  }
  run.report.line('proposer', 'goes on with the change of the last step, which is not decided yet')
  return { changes: [{ mutations, requires, proposalId: null, notes: {} }], isNew: false }
}

async function ask(run: StepRun, choice: TaskChoice): Promise<FoundChanges | Skip> {
  const { unplayed } = run.context
  const kept = await unplayed.find(questionOf(run))
  if (kept !== null) run.report.line('proposer', 'uses the proposals of the last attempt, which did not end')
  const answers = kept ?? (await askAll(run, choice))
  if (answers.length > 0) run.origin = { answers }
  noteOn(run, answers[0]?.notes)
  remember(
    run,
    answers.findLast(({ memory }) => memory !== undefined),
  )
  const changes = answers.filter(({ mutations }) => mutations.length > 0)
  if (changes.length === 0) return { skip: 'no proposal' }
  // A screening takes long: a step that is killed meanwhile must not pay for its proposals again.
  if (run.screening !== null && kept === null) await unplayed.keep(questionOf(run), answers)
  const isNew = run.screening !== null
  return { changes: changes.map(({ mutations, requires = [], notes = {} }) => ({ mutations, requires, notes, proposalId: null })), isNew }
}

/** A proposer that fails after its first answer has given what it has. */
async function askAll(run: StepRun, choice: TaskChoice): Promise<readonly Proposal[]> {
  const answers: Proposal[] = []
  const most = run.screening === null ? 1 : run.context.settings.candidates
  while (answers.length < most) {
    const brief = briefOf(run, { ...choice, shown: shownTo(choice.shown, answers.length) }, answers)
    const answer = await run.context.method.proposer.propose(brief).catch((error: unknown) => {
      run.signal.throwIfAborted()
      if (answers.length === 0) throw error
      run.report.line('proposer', 'no further proposal; going on with those there are', true)
      return null
    })
    if (answer === null) break
    answers.push(answer)
    remember(run, answer)
    if (answer.mutations.length === 0) break
  }
  return answers
}

/** The first answer is about all reports, the others about one each, so that they differ. */
const shownTo = (shown: TaskChoice['shown'], asked: number): TaskChoice['shown'] =>
  asked === 0 ? shown : shown.slice((asked - 1) % shown.length).slice(0, 1)

function remember(run: StepRun, answer: Proposal | undefined): void {
  const { memory } = answer ?? {}
  if (memory !== undefined && bytesOf(memory) <= MEMORY_BYTES_MAX) run.state = { ...run.state, memory }
}

function noteOn(run: StepRun, notes: JsonObject | undefined): void {
  if (notes === undefined || Object.keys(notes).length === 0) return
  run.metrics['proposal_notes'] = bytesOf(notes) <= NOTES_BYTES_MAX ? notes : { dropped: 'the notes are too large for a row' }
}

/** Identifies what a proposer is asked: the batch and the tree. */
export const questionOf = ({ order, context }: StepRun): string => cacheKey([context.component, order.batch.id, order.files])

const ALREADY_THERE = 'it is among the candidates of this step already; propose another change'

function briefOf(run: StepRun, { shown, train }: TaskChoice, answers: readonly Proposal[]): Brief {
  const { context, order, entries, models, report, signal, state } = run
  return {
    adapter: context.adapter,
    entries,
    samples: shown,
    request: order.batch.request,
    models: models.models,
    tasks: train,
    rejected: [...state.rejected, ...answers.map(({ mutations }) => ({ step: order.step, mutations, reason: ALREADY_THERE }))],
    memory: state.memory,
    check: (mutations) => {
      const admitted = treeOf(run, mutations)
      return typeof admitted === 'string' ? admitted : null
    },
    trial: trials(run),
    report,
    signal,
  }
}

export function treeOf({ context, entries }: StepRun, mutations: readonly Mutation[]): readonly Entry[] | string {
  const { adapter, method } = context
  const admitted = admit(adapter, entries, mutations)
  if (!admitted.admitted) return admitted.reason
  const code =
    method.codeProblem === null ? undefined : touchedEntries(entries, admitted.entries).after.find((entry) => runsCode(adapter, entry))
  if (code !== undefined) return `${code.id}: code written by a model is not run here: ${method.codeProblem}`
  return method.runsPrograms || rulesAlone(adapter, admitted.entries) !== null ? admitted.entries : NOT_RULES_ALONE
}

/** Repeating a trial is a new repeat, not the cached one. */
function trials(run: StepRun): Brief['trial'] {
  const tried = new Map<string, number>()
  return async (mutations: readonly Mutation[], task: Task): Promise<Trial> => {
    const tree = mutations.length === 0 ? run.entries : treeOf(run, mutations)
    if (typeof tree === 'string') return { score: null, failure: tree, episode: null }
    const key = JSON.stringify([mutations, task.name, task.prompt])
    const repeat = tried.get(key) ?? 0
    tried.set(key, repeat + 1)
    run.report.line('trial', `plays ${task.name}`)
    const order = { side: 'trial', entries: tree, task, repeat } as const
    // Trials publish nothing, so the age of a score does not matter.
    const known = await run.episodes.known(order)
    const played = known === null ? await run.episodes.play(order, null) : await run.episodes.take(order, known)
    if (played === null) throw new Error(run.episodes.capReached ?? 'the step has no episodes left; raise evolution.max_episodes_per_step')
    run.report.line('trial', `${task.name}: ${played.score ?? 'no score'}`, played.score === null)
    return { score: played.score, failure: played.failure, episode: played.episode }
  }
}

/**
 * A change that learned the test is refused. `check` does not report this, since a proposer could use it to guess tasks. A person's request may
 * quote a task, and does not have to be better: it is held for review.
 */
export async function admitCandidate(run: StepRun, { gate }: TaskChoice, found: ProposedChange): Promise<HarnessCandidate | Skip> {
  const { record, report } = run
  await record?.write('mutations.json', found.mutations.map(jsonOf))
  run.metrics[found.mutations.length === 1 ? 'mutation' : 'mutations'] =
    found.mutations.length === 1 ? jsonOf(found.mutations[0]) : found.mutations.map(jsonOf)
  const tree = treeToPlay(run, gate, found)
  if (typeof tree === 'string') return refused(run, found, tree)
  const byHeart = learnedByHeart(run.entries, tree, [...run.context.tasks, ...run.state.promoted])
  if (byHeart !== null && run.order.batch.request === null) return refused(run, found, byHeart)
  report.line('check', `admitted: ${found.mutations.map(({ op, id }) => `${op} ${id}`).join(', ')}`)
  const entries = authored(run.entries, tree, authorOf(run, found))
  return { ...found, entries, byHeart, powers: judgedPowers(run, found, entries) }
}

const authorOf = ({ order }: StepRun, { proposalId }: ProposedChange): EntryAuthor =>
  order.batch.request !== null ? 'person' : proposalId !== null ? 'agent' : 'traffic'

/** The same for a change from traffic, without a word in the row. */
export function playableTree(run: StepRun, gate: readonly Task[], found: ProposedChange): readonly Entry[] | string {
  const tree = treeToPlay(run, gate, found)
  if (typeof tree === 'string') return tree
  return learnedByHeart(run.entries, tree, [...run.context.tasks, ...run.state.promoted]) ?? tree
}

/** The candidate's tree, or why it is refused. */
function treeToPlay(run: StepRun, gate: readonly Task[], found: ProposedChange): readonly Entry[] | string {
  const tree = treeOf(run, found.mutations)
  if (typeof tree === 'string') return tree
  if (isSame(run, tree)) return 'nothing would change'
  const no = run.order.batch.request === null ? personsNo(run.state.rejected, found.mutations) : null
  if (no !== null) return no
  // Deciding the same case again would give the same result and make the gate stricter for later changes.
  if (standingOf(run, gate, tree) === null) return 'it was rejected before, and neither the served tree nor the tasks have changed since'
  return tree
}

/** A change from traffic is what the agent would see of it; a person may also ask for another id or order. */
function isSame({ context: { adapter }, entries, order }: StepRun, tree: readonly Entry[]): boolean {
  return order.batch.request === null
    ? isDeepStrictEqual(renderTree(adapter, entries), renderTree(adapter, tree))
    : JSON.stringify(contentOf(adapter, entries)) === JSON.stringify(contentOf(adapter, tree))
}

/** Settles a proposal of the inbox, and remembers the change for the next brief. */
async function refused(run: StepRun, found: ProposedChange, reason: string): Promise<Skip> {
  run.report.line('check', reason, true)
  if (found.proposalId !== null) await run.context.inbox.refuse(found.proposalId, reason)
  run.state = { ...run.state, rejected: [...run.state.rejected, { step: run.order.step, mutations: found.mutations, reason }] }
  return { skip: `refused: ${reason}` }
}

const jsonOf = (mutation: Mutation | undefined): JsonObject => JSON.parse(JSON.stringify(mutation ?? {}))
