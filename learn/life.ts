/** A scenario in a world: the real trainer runs steps until the episodes are spent. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { POWERS } from '../src/contract/index.ts'
import type {
  Entry,
  Evaluator,
  Files,
  JsonObject,
  Kind,
  Kinds,
  ModelAddress,
  Parts,
  Proposer,
  Reporter,
  StepOrder,
  StepResult,
  Task,
  Trainer,
} from '../src/contract/index.ts'
import { schema } from '../src/config/schema.ts'
import { openEvolution } from '../src/evolution/index.ts'
import { contentOf, entriesIn } from '../src/harness/index.ts'
import { practiceModel } from '../plugins/runtimes/practice/testing.ts'
import { ADAPTER } from './agent.ts'
import { graderOf, naiveGrader } from './graders.ts'
import { LiveSessions } from './live.ts'
import { makePlayer, reportsOn, type WorldPlayer } from './player.ts'
import { EXPECTED_FILE, makeKnowingProposer, makeNoOpProposer, makeProposer, type MixedProposer, type ProposalSource } from './proposals.ts'
import type { ComparedGate } from './gates.ts'
import { bestOf, optimumOf, sealedScore } from './sealed.ts'
import { answerOf, type World } from './worlds/world.ts'

/** Episodes of a scenario, and of one step. */
export const EPISODES = 150
const EPISODES_PER_STEP_MAX = 80
/** Both sides of one task. */
const PAIR = 2
/** A gate that plays nothing would never end. */
const STEPS_MAX = 60
/** Smaller changes of the sealed score do not count. */
const CHANGE_LEAST = 0.01

export interface Life {
  readonly start: number
  readonly optimum: number
  readonly sealed: number
  readonly episodes: number
  readonly steps: number
  readonly published: Readonly<Record<'helpful' | 'no-op' | 'harmful' | 'cheat', number>>
  readonly offered: Readonly<Record<ProposalSource, number>>
  /** The sealed score of the served tree by episodes. */
  readonly curve: readonly { readonly episode: number; readonly sealed: number }[]
}

export interface Builtin {
  readonly evaluator: Evaluator
  readonly proposer: Kinds['proposer']
}

/** A life of at most 150 episodes, with an adversary among those who propose. */
export async function live(world: World, gate: ComparedGate, builtin: Builtin): Promise<Life> {
  const mixed = gate.isKnowing === true ? makeKnowingProposer(bestOf(world)) : makeProposer(world, await thinkingProposer(builtin.proposer))
  const published = { helpful: 0, 'no-op': 0, harmful: 0, cheat: 0 }
  const start = sealedScore(world, world.start)
  const curve = [{ episode: 0, sealed: start }]
  const [player, course] = [makePlayer(world), { stepsMax: STEPS_MAX, episodesMax: EPISODES }]
  let steps = 0
  for await (const { entries, isBack } of stepsOf({ world, gate, builtin, player, mixed, course })) {
    steps += 1
    if (entries === null) continue
    const sealed = sealedScore(world, entries)
    if (!isBack) published[nameOf(mixed.sourceOf(entries), sealed - (curve.at(-1)?.sealed ?? 0))] += 1
    curve.push({ episode: player.played(), sealed })
  }
  const sealed = curve.at(-1)?.sealed ?? start
  return { start, optimum: optimumOf(world), sealed, episodes: player.played(), steps, published, offered: mixed.offered, curve }
}

/** Whether a scenario that is offered nothing but no-ops publishes one of them. */
export async function publishesNoOp(world: World, gate: ComparedGate, builtin: Builtin, offers: number): Promise<boolean> {
  const [player, mixed, course] = [makePlayer(world), makeNoOpProposer(), { stepsMax: offers, episodesMax: Infinity }]
  for await (const { entries } of stepsOf({ world, gate, builtin, player, mixed, course })) if (entries !== null) return true
  return false
}

interface Scenario {
  readonly world: World
  readonly gate: ComparedGate
  readonly builtin: Builtin
  readonly player: WorldPlayer
  readonly mixed: MixedProposer
  readonly course: { readonly stepsMax: number; readonly episodesMax: number }
}

interface StepEnd {
  /** What is served from then on; null where that stays as it is. */
  readonly entries: readonly Entry[] | null
  /** Whether a provisional release was refuted, so that it is what was served before. */
  readonly isBack: boolean
}

async function* stepsOf(scenario: Scenario): AsyncGenerator<StepEnd> {
  const directory = await mkdtemp(join(tmpdir(), 'learn-'))
  try {
    yield* stepsIn(directory, scenario)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function* stepsIn(directory: string, scenario: Scenario): AsyncGenerator<StepEnd> {
  const { world, player, course } = scenario
  const trainers = trainersOf(scenario, directory)
  const served = [world.start]
  let files = contentOf(ADAPTER, world.start)
  let unproven: Unproven | null = null
  let shown = files
  const scored = new LiveSessions(world)
  let state: JsonObject = {}
  let step = 1
  while (step <= course.stepsMax && course.episodesMax - player.played() >= PAIR) {
    const trainer = await trainers()
    const result = await trainer.step(orderOf(scenario, step, served, files, state), SILENT, NEVER)
    state = stateAfter(result, world) ?? state
    // The service does such a step again, with the same batch.
    if (result.kind === 'fail' && result.retry === true) continue
    step += 1
    const published = publishedBy(result, scored)
    if (published !== null) {
      files = published
      unproven = null
      scored.forget()
    } else unproven = unprovenAfter(unproven, result, scored)
    served.push(entriesIn(ADAPTER, files))
    const sessions = tasksAt(world, player).filter(({ role }) => role === 'train')
    if (unproven !== null && scored.end({ provisional: unproven.files, head: files }, sessions, step, player.played())) unproven = null
    const now: Files = unproven?.files ?? files
    const isMoved = !isDeepStrictEqual(now, shown)
    shown = now
    yield { entries: isMoved ? entriesIn(ADAPTER, now) : null, isBack: unproven === null && result.kind !== 'publish' }
  }
}

/** A provisional release. */
interface Unproven {
  readonly files: Files
  readonly gain: number
}

/** What live scores ended waits for a person, also once it is proved. */
const publishedBy = (result: StepResult, scored: LiveSessions): Files | null =>
  result.kind === 'publish' && result.content.kind === 'files' && !scored.isWithdrawn(result.content.files) ? result.content.files : null

/** As a scenario does it: one at a time, until another looks better than it, it looks no better itself, or anything is published. */
function unprovenAfter(before: Unproven | null, result: StepResult, scored: LiveSessions): Unproven | null {
  if (!('content' in result) || result.content?.kind !== 'files') return before
  const { files } = result.content
  const isThere = isDeepStrictEqual(files, before?.files)
  if (result.kind === 'reject') return isThere ? null : before
  if (result.kind !== 'provisional' || isThere || (before?.gain ?? 0) >= result.gain || scored.isWithdrawn(files)) return before
  return { files, gain: result.gain }
}

/** Only an outage may fail a step. */
function stateAfter(result: StepResult, { isOut }: World): JsonObject | undefined {
  if (result.kind !== 'fail') return result.state
  if (isOut === undefined) throw new Error(`a step failed: ${result.error}`)
  return undefined
}

export const SILENT: Reporter = { phase: () => undefined, line: () => undefined }
export const NEVER = new AbortController().signal
/** Unused: the agent and the proposer call the model in process. */
const MODEL: ModelAddress = { url: '', model: 'practice', api: 'openai', apiKey: null }

/** Classifies a change by its effect on the sealed score; a cheat is always a cheat. */
export function nameOf(source: ProposalSource, change: number): keyof Life['published'] {
  if (source === 'cheat') return 'cheat'
  if (Math.abs(change) < CHANGE_LEAST) return 'no-op'
  return change > 0 ? 'helpful' : 'harmful'
}

function partsOf({ world, gate, builtin, player, mixed }: Scenario): Parts {
  const own: Partial<Kinds> = {
    proposer: mixed.proposer,
    evaluator: graderOf(world, gate.isNaive ? naiveGrader : builtin.evaluator, () => player.played()),
    selection: gate.selection,
    executor: { make: () => player.executor },
  }
  return {
    baseDirectory: tmpdir(),
    warn: () => undefined,
    async plugin<K extends Kind>(kind: K): Promise<Kinds[K]> {
      const plugin = own[kind]
      if (plugin === undefined) throw new Error(`the suite has no ${kind}`)
      return plugin
    },
  }
}

/** Opened again when the budget or the tasks change. */
function trainersOf(scenario: Scenario, directory: string): () => Promise<Trainer> {
  const { world, player, course } = scenario
  const parts = partsOf(scenario)
  let open: { readonly episodesMax: number; readonly tasks: readonly Task[]; readonly trainer: Trainer } | null = null
  return async () => {
    const [episodesMax, tasks] = [Math.min(EPISODES_PER_STEP_MAX, course.episodesMax - player.played()), tasksAt(world, player)]
    if (open?.episodesMax !== episodesMax || JSON.stringify(open.tasks) !== JSON.stringify(tasks))
      open = { episodesMax, tasks, trainer: await openTrainer(scenario, parts, directory, episodesMax) }
    return open.trainer
  }
}

async function openTrainer({ world, gate, player }: Scenario, parts: Parts, directory: string, episodesMax: number): Promise<Trainer> {
  const { evolution } = schema.parse({
    evolution: {
      adapter: ADAPTER.name,
      binary: process.execPath,
      executor: 'learner',
      tasks: tasksAt(world, player).map((task) => configured(task, gate)),
      step_record_dir: null,
      // The gate alone decides here: no person reviews, and fixes change settings and what the world started with.
      publish_powers: [...POWERS],
      proposals_dir: join(directory, 'proposals'),
      episode_workers: 1,
      max_episodes_per_step: episodesMax,
      ...(!gate.isScreened && { screen_share: 0 }),
      ...(gate.isProvisional === true && { provisional: 'canary' }),
    },
  })
  const config: JsonObject = JSON.parse(JSON.stringify({ evolution }))
  const { plan } = await openEvolution(config, { adapter: ADAPTER, parts, bundled: [], pauseMs: 0 })
  return plan.open({ scenario: world.seed, component: '', config, evaluation: MODEL, directory: join(directory, 'scenario') })
}

export function tasksAt({ phases }: World, player: WorldPlayer): readonly Task[] {
  const phase = phases.findLast(({ fromEpisode }) => fromEpisode <= player.played())
  return phase === undefined ? [] : [...phase.train, ...phase.gate]
}

function configured(task: Task, { isNaive }: ComparedGate): JsonObject {
  const { data = {}, ...rest } = task
  return { ...rest, ...data, ...(isNaive && { files: { [EXPECTED_FILE]: answerOf(task) } }) }
}

function orderOf({ world, player }: Scenario, step: number, served: Served, files: Files, state: JsonObject): StepOrder {
  const train = tasksAt(world, player).filter(({ role }) => role === 'train')
  const reported = served[Math.max(0, served.length - 1 - (world.reports?.delaySteps ?? 0))] ?? world.start
  const samples = reportsOn(world, train, reported, step, player.played())
  const base = { release_id: `release-${step}`, parent_release_id: null, content_id: `content-${step}` }
  return { step, batch: { id: `batch-${step}`, samples, request: null }, base, files, state, model: MODEL }
}
/** The trees that were served, by step. */
type Served = readonly (readonly Entry[])[]

/** The real text proposer, with the mock model. */
export async function thinkingProposer(plugin: Kinds['proposer']): Promise<Proposer> {
  const proposer = 'make' in plugin ? await plugin.make({}) : plugin
  const models = { served: practiceModel() }
  return { ...proposer, propose: (brief) => proposer.propose({ ...brief, models }) }
}
