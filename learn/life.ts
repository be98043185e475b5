/** A scenario in a world: the real trainer runs steps until the episodes are spent. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { POWERS } from '../src/contract/index.ts'
import type {
  Entry,
  Episode,
  Evaluator,
  Executor,
  Files,
  JsonObject,
  Kind,
  Kinds,
  ModelAddress,
  Parts,
  Proposer,
  Reporter,
  Sample,
  StepOrder,
  Task,
} from '../src/contract/index.ts'
import { schema } from '../src/config/schema.ts'
import { openEvolution } from '../src/evolution/index.ts'
import { contentOf, entriesIn, renderTree } from '../src/harness/index.ts'
import { practiceModel } from '../plugins/runtimes/practice/testing.ts'
import { digest, draw } from '../plugins/runtimes/practice/draw.ts'
import { ADAPTER, setupIn, runAgent } from './agent.ts'
import { EXPECTED_FILE, makeProposer, type ProposalSource } from './proposals.ts'
import type { ComparedGate } from './gates.ts'
import { optimumOf, sealedScore } from './sealed.ts'
import { answerOf, type World } from './worlds/world.ts'

/**
 * The suite's other graders: a naive one, and one that is sometimes silent or wrong. A common first attempt: passes when the answer is
 * anywhere in the output, or the run claims success.
 */
export const naiveGrader: Evaluator = {
  async score(task, episode) {
    if (episode.ended !== undefined) return null
    return isClaimed(episode) || episode.stdout.includes(answerOf(task)) ? 1 : 0
  },
}

/** The agent as an executor, which counts its episodes. */
interface Player {
  readonly executor: Executor
  played(): number
}

/** Episodes of a scenario, and of one step. */
export const EPISODES = 150
const EPISODES_PER_STEP_MAX = 80
/** Both sides of one task. */
const PAIR = 2
/** A gate that plays nothing would never end. */
const STEPS_MAX = 60
/** Reports per step. */
const SAMPLES_MAX = 4
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

export async function live(world: World, gate: ComparedGate, builtin: Builtin): Promise<Life> {
  const directory = await mkdtemp(join(tmpdir(), 'learn-'))
  try {
    return await liveIn(directory, world, gate, builtin)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function liveIn(directory: string, world: World, gate: ComparedGate, builtin: Builtin): Promise<Life> {
  const player = makePlayer(world.seed)
  const mixed = makeProposer(world, await thinkingProposer(builtin.proposer))
  const parts = partsOf({
    proposer: mixed.proposer,
    evaluator: flakyGrader(gate.isNaive ? naiveGrader : builtin.evaluator, world),
    selection: gate.selection,
    executor: { make: () => player.executor },
  })
  const published = { helpful: 0, 'no-op': 0, harmful: 0, cheat: 0 }
  const offered = { sensible: 0, 'no-op': 0, harmful: 0, decoy: 0, cheat: 0 }
  const curve = [{ episode: 0, sealed: sealedScore(world, world.start) }]
  let files = contentOf(ADAPTER, world.start)
  let state: JsonObject = {}
  let step = 1
  for (; step <= STEPS_MAX && EPISODES - player.played() >= PAIR; step += 1) {
    const trainer = await openTrainer(world, gate, player, parts, directory)
    const result = await trainer.step(orderOf(world, player, step, files, state), SILENT, NEVER)
    offered[mixed.source()] += 1
    if (result.kind === 'fail') throw new Error(`a step failed: ${result.error}`)
    state = result.state ?? state
    if (result.kind !== 'publish' || result.content.kind !== 'files') continue
    files = result.content.files
    const before = curve.at(-1)?.sealed ?? 0
    const sealed = sealedScore(world, entriesIn(ADAPTER, files))
    published[nameOf(mixed.source(), sealed - before)] += 1
    curve.push({ episode: player.played(), sealed })
  }
  const [start, sealed] = [curve[0]?.sealed ?? 0, curve.at(-1)?.sealed ?? 0]
  return { start, optimum: optimumOf(world), sealed, episodes: player.played(), steps: step - 1, published, offered, curve }
}

const SILENT: Reporter = { phase: () => undefined, line: () => undefined }
const NEVER = new AbortController().signal
/** Unused: the agent and the proposer call the model in process. */
const MODEL: ModelAddress = { url: '', model: 'practice', api: 'openai', apiKey: null }

/** Classifies a change by its effect on the sealed score; a cheat is always a cheat. */
function nameOf(source: ProposalSource, change: number): keyof Life['published'] {
  if (source === 'cheat') return 'cheat'
  if (Math.abs(change) < CHANGE_LEAST) return 'no-op'
  return change > 0 ? 'helpful' : 'harmful'
}

function partsOf(own: Partial<Kinds>): Parts {
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

/** Opened for each step, since the budget and the tasks change. */
async function openTrainer(world: World, gate: ComparedGate, player: Player, parts: Parts, directory: string) {
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
      max_episodes_per_step: Math.min(EPISODES_PER_STEP_MAX, EPISODES - player.played()),
    },
  })
  const config: JsonObject = JSON.parse(JSON.stringify({ evolution }))
  const { plan } = await openEvolution(config, { adapter: ADAPTER, parts, bundled: [] })
  return plan.open({ scenario: world.seed, component: '', config, evaluation: MODEL, directory: join(directory, 'scenario') })
}

function tasksAt({ phases }: World, player: Player): readonly Task[] {
  const phase = phases.findLast(({ fromEpisode }) => fromEpisode <= player.played())
  return phase === undefined ? [] : [...phase.train, ...phase.gate]
}

function configured(task: Task, { isNaive }: ComparedGate): JsonObject {
  const { data = {}, ...rest } = task
  return { ...rest, ...data, ...(isNaive && { files: { [EXPECTED_FILE]: answerOf(task) } }) }
}

function orderOf(world: World, player: Player, step: number, files: Files, state: JsonObject): StepOrder {
  const train = tasksAt(world, player).filter(({ role }) => role === 'train')
  const samples = samplesOf(world, train, entriesIn(ADAPTER, files), step)
  const base = { release_id: `release-${step}`, parent_release_id: null, content_id: `content-${step}` }
  return { step, batch: { id: `batch-${step}`, samples, request: null }, base, files, state, model: MODEL }
}

/** Reports on tasks that the served tree failed. Their runs are traffic and do not count as episodes. */
function samplesOf({ seed }: World, train: readonly Task[], entries: readonly Entry[], step: number): readonly Sample[] {
  const setup = setupIn(renderTree(ADAPTER, entries))
  return train
    .map((task) => ({ task, reply: runAgent(setup, task.prompt, {}, `traffic ${seed} ${step} ${task.name}`).reply }))
    .filter(({ task, reply }) => reply.split('\n').at(-1) !== answerOf(task))
    .slice(0, SAMPLES_MAX)
    .map(({ task, reply }) => ({
      record_ids: [`${step}-${task.name}`],
      exchanges: [
        { messages: [{ role: 'user', content: task.prompt }], response: { choices: [{ message: { role: 'assistant', content: reply } }] } },
      ],
      score: 0,
      feedback: 'wrong',
    }))
}

/** The real text proposer, with the mock model. */
async function thinkingProposer(plugin: Kinds['proposer']): Promise<Proposer> {
  const proposer = 'make' in plugin ? await plugin.make({}) : plugin
  const models = { served: practiceModel() }
  return { ...proposer, propose: (brief) => proposer.propose({ ...brief, models }) }
}

/** Each run on the same files and task has its own seed, reproducible between runs of the suite. */
function makePlayer(seed: string): Player {
  const runs = new Map<string, number>()
  let total = 0
  return {
    executor: {
      async run(play, signal) {
        signal.throwIfAborted()
        const files = play.files(play.model)
        const prompt = play.launch('').argv.at(-1) ?? ''
        const key = digest(seed, JSON.stringify(files), prompt)
        const run = runs.get(key) ?? 0
        runs.set(key, run + 1)
        total += 1
        const { stdout, log, ended } = runAgent(setupIn(files), prompt, play.workspace, `${key} ${run}`)
        return { exitCode: ended === undefined ? 0 : 1, stdout, stderr: '', trajectory: log, ...(ended !== undefined && { ended }) }
      },
    },
    played: () => total,
  }
}

function isClaimed({ stdout, trajectory }: Episode): boolean {
  return /^score: 1$|\bchecks passed\b/m.test(stdout) || trajectory.some((event) => event['score'] === 1 || hasPassed(event))
}

const hasPassed = (event: JsonObject): boolean => JSON.stringify(event).includes('PASS')

/** The same scores, some missing and some inverted. */
function flakyGrader(grader: Evaluator, { seed, flakiness }: World): Evaluator {
  let asked = 0
  return {
    async score(task, episode, scene) {
      asked += 1
      const luck = draw(seed, 'grader', String(asked))
      if (luck < flakiness.silent) return null
      const score = await grader.score(task, episode, scene)
      return score === null || luck >= flakiness.silent + flakiness.wrong ? score : 1 - score
    },
  }
}
