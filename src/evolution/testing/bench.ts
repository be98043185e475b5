/** A trainer for tests, with a small agent played in process, a scripted proposer and temporary folders. */
import { join } from 'node:path'
import type {
  Adapter,
  Brief,
  Entry,
  Episode,
  EpisodeReport,
  Evaluator,
  Executor,
  Files,
  Json,
  JsonObject,
  Mutation,
  Proposal,
  OwnEvolution,
  Rejection,
  Reporter,
  Sample,
  Selection,
  StepOrder,
  StepResult,
  Task,
  TrainRequest,
} from '../../contract/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { contentOf } from '../../harness/index.ts'
import { EpisodeCache } from '../cache.ts'
import { hostHere, type HostParts } from '../hosts/here.ts'
import { Inbox } from '../inbox/inbox.ts'
import { Ledger } from '../money/ledger.ts'
import { FolderDocuments } from '../../kit/index.ts'
import type { EvolutionContext } from '../run.ts'
import { makeTrainer } from '../trainer.ts'
import { UnplayedProposal } from '../unplayed.ts'

/** Reads rules, commands and code, and its model from a file. */
const agent: Adapter = {
  name: 'plain',
  binary: 'agent',
  trajectory_format: 'none',
  layout: {
    config: { primary: { path: 'agent/settings.json' } },
    rules: 'agent/RULES.md',
    named: { agent_command: 'agent/commands/{name}.md', code_extension: 'agent/extensions/{name}.ts' },
  },
  bindings: { openai: ({ url, model }) => [{ target: 'primary', data: { url, model } }] },
  powers: { kinds: { rules: ['words'], agent_command: ['words'] }, settings: { 'primary.theme': ['words'] }, head: {}, texts: [] },
  install: { manager: 'npm', package: 'agent', version: '1.0.0', binary_path: 'node_modules/.bin/agent' },
  launch: ({ prompt }) => ({ argv: ['agent', prompt], env: {}, timeoutSeconds: 1 }),
  readTrajectory: () => Promise.resolve([]),
}

export const RULE: Mutation = { op: 'create', id: 'hint', options: { name: 'rules', config: { text: 'Say the magic word.' } } }
const SEED: readonly Entry[] = [{ id: 'base', name: 'rules', config: { text: 'Be brief.' } }]

export const taskNamed = (name: string, more: Partial<Task> = {}): Task => ({
  name,
  prompt: `the prompt of ${name}, which is long enough`,
  role: 'gate',
  ...more,
})

/** A change that the magic word does not follow from. */
export const WORSE: Mutation = { op: 'create', id: 'worse', options: { name: 'rules', config: { text: 'Say nothing.' } } }
/** As an agent offers it. */
export const proposalFor = (mutation: Mutation) => ({ mutations: [mutation], reason: 'because', session: 's', release_id: 'r' })
export const ALWAYS: Selection = { decide: () => ({ selected: true, reason: 'always' }) }

/** A folder of the deployment. */
export const OWN_FOLDER = '/srv/of-the-deployment'

export const episodeOf = (stdout: string): Episode => ({ exitCode: 0, stdout, stderr: '', trajectory: [] })
export const metric = (result: StepResult, name: string): Json | undefined => result.metrics?.[name]

/** The first step of a new bench. */
export const stepOf = async (tools: Tools = {}, batch?: TestBatch): Promise<StepResult> => (await testBench(tools)).step(batch)

export const GATE: readonly Task[] = ['one', 'two', 'three'].map((name) => taskNamed(name))

export interface Tools {
  readonly propose?: (brief: Brief) => Promise<Proposal | null> | Proposal | null
  readonly selection?: Selection
  readonly evaluator?: Evaluator
  readonly run?: Executor['run']
  readonly program?: HostParts['program']
  readonly adapter?: Adapter
  readonly tasks?: readonly Task[]
  readonly settings?: Partial<EvolutionContext['settings']>
  /** Where the model answers. */
  readonly modelUrl?: string
  readonly codeProblem?: string
  readonly unplayable?: string
  /** What an earlier row left. */
  readonly state?: JsonObject
  /** Another bench, whose cache this one reuses. */
  readonly cacheFrom?: Pick<TestBench, 'folder'>
}

export interface TestBench {
  readonly folder: string
  readonly inbox: Inbox
  /** Names of what was played, in order: `candidate one 0`. */
  readonly played: string[]
  readonly lines: string[]
  /** The episodes as they were told of. */
  readonly told: EpisodeReport[]
  /** The clock, for a test to move. */
  readonly time: { ms: number }
  /** Runs a step on the current content; a published one replaces it. */
  step(batch?: TestBatch, signal?: AbortSignal): Promise<StepResult>
}

interface TestBatch {
  readonly samples?: readonly Sample[]
  readonly request?: TrainRequest | null
  /** Components of the base release. */
  readonly components?: Readonly<Record<string, string>>
  /** What a person put in place of the content. */
  readonly served?: Files
  /** The batch id; by default every step has its own. */
  readonly id?: string
  /** What people rejected. */
  readonly rejections?: readonly Rejection[]
  /** What people set over the configuration. */
  readonly evolution?: OwnEvolution
}

/** An agent that says the magic word when its rules ask for it. */
const obedient =
  (played: string[]): Executor['run'] =>
  async (play) => {
    const files = play.files({ url: '', model: 'm', api: 'openai', apiKey: null })
    const { argv } = play.launch('/root')
    const rules = Object.entries(files).find(([path]) => /(?:RULES|AGENTS)\.md$/.test(path))?.[1] ?? ''
    played.push(`${rules.includes('magic') ? 'candidate' : 'current'} ${argv.at(-1)}`)
    const episode = { ...episodeOf(rules.includes('magic') ? 'magic' : 'nothing'), trajectory: [{ rules }] }
    await play.inspect?.('/root/workspace', episode)
    return episode
  }

const saysMagic: Evaluator = { score: async (_task, { stdout }) => (stdout === 'magic' ? 1 : 0) }

/** More wins than losses. */
const moreWins: Selection = {
  decide(pairs) {
    const margin = pairs.reduce((sum, { candidate, current }) => sum + Math.sign((candidate ?? -1) - (current ?? -1)), 0)
    return { selected: margin > 0, reason: `a margin of ${margin}`, metrics: { margin } }
  },
}

export const SETTINGS: EvolutionContext['settings'] = {
  adapter: 'test',
  binary: null,
  tasks: null,
  tasks_dir: null,
  proposer: 'test',
  evaluator: 'test',
  evaluator_module: null,
  selection: 'test',
  tasks_alike: 1,
  executor: null,
  publish: 'auto',
  provisional: 'off',
  canary_share: 0.1,
  review_kinds: ['code_extension'],
  publish_powers: ['words'],
  sandbox: {},
  prices: {},
  max_tokens_per_step: 0,
  max_cost_per_step: 0,
  max_tokens_per_day: 0,
  max_cost_per_day: 0,
  objective: { cost_per_point: null, seconds_per_point: null },
  sampling_seeds: 'auto',
  episode_timeout_s: 10,
  score_age_max_s: 1800,
  episode_repeats: 1,
  episode_workers: 1,
  episode_host: 'service',
  candidates: 3,
  screen_share: 0.4,
  max_model_calls_per_step: 0,
  max_episodes_per_step: 0,
  promote_failures: false,
  max_promoted_tasks: 50,
  max_promoted_per_client: 5,
  max_rejected_history: 3,
  proposals_dir: '',
  max_pending_proposals: 8,
  step_record_dir: null,
  step_record_bytes: 1_000_000,
}

export async function testBench(tools: Tools = {}): Promise<TestBench> {
  const folder = temporaryFolder()
  const played: string[] = []
  const time = { ms: 1_000_000 }
  const lines: string[] = []
  const told: EpisodeReport[] = []
  const inbox = new Inbox(new FolderDocuments(join(folder, 'inbox')), 8)
  const evaluator = tools.evaluator ?? saysMagic
  const adapter = tools.adapter ?? agent
  const settings = { ...SETTINGS, step_record_dir: join(folder, 'steps'), ...tools.settings }
  const method: EvolutionContext['method'] = {
    proposer: { acceptsRequests: true, propose: async (brief) => (tools.propose ?? (() => ({ mutations: [RULE] })))(brief) },
    selection: tools.selection ?? moreWins,
    executor: { run: tools.run ?? obedient(played) },
    contained: true,
    runsPrograms: settings.executor !== 'none',
    codeProblem: tools.codeProblem ?? null,
    unplayable: async () => tools.unplayable ?? null,
    evaluator: async () => evaluator,
  }
  const context: EvolutionContext = {
    settings,
    method,
    host: hostHere({
      adapter,
      method,
      settings,
      hides: [OWN_FOLDER],
      program: tools.program ?? (async () => ({ argv: ['agent'], needs: [], env: {}, version: '1' })),
    }),
    adapter,
    tasks: tools.tasks ?? GATE,
    evaluation: { url: tools.modelUrl ?? 'http://127.0.0.1:9', apiKey: 'token-of-the-bench' },
    cache: await EpisodeCache.open(new FolderDocuments(tools.cacheFrom?.folder ?? folder, { syncsAppends: false })),
    ledger: new Ledger(new FolderDocuments(tools.cacheFrom?.folder ?? folder), 'harness'),
    inbox,
    steps: null,
    unplayed: new UnplayedProposal(new FolderDocuments(folder), ''),
    scenario: 'test',
    component: 'harness',
    folder: 'scenario',
    pauseMs: 1,
    now: () => time.ms,
  }
  const trainer = makeTrainer(context)
  const report: Reporter = {
    phase: (name, more) => void lines.push(`phase ${name}${more?.episodes_total === undefined ? '' : ` of ${more.episodes_total}`}`),
    episode: (episode) => void told.push(episode),
    line: (kind, text, failed) => void lines.push(`${kind}${failed === true ? '!' : ''} ${text}`),
  }
  let files = contentOf(adapter, SEED)
  let state: JsonObject = tools.state ?? {}
  let step = 0
  return {
    folder,
    inbox,
    played,
    lines,
    told,
    time,
    async step(
      { samples = [SAMPLE], request = null, components = {}, served, id, rejections, evolution } = {},
      signal = new AbortController().signal,
    ) {
      // A step that was stopped is done again.
      const next = step + 1
      files = served ?? files
      const order: StepOrder = {
        step: next,
        batch: { id: id ?? `batch-${next}`, samples, request },
        base: { release_id: `r${next}`, parent_release_id: null, content_id: 'c', components },
        files,
        model: { model: 'm', api: 'openai' },
        state,
        ...(rejections !== undefined && { rejections }),
        ...(evolution !== undefined && { evolution }),
      }
      const result = await trainer.step(order, report, signal)
      // One that is tried again leaves no row.
      if (result.kind !== 'fail' || result.retry !== true) step = next
      if (result.kind === 'publish' && result.content.kind === 'files') files = result.content.files
      state = result.state ?? state
      return result
    },
  }
}

export const SAMPLE: Sample = {
  record_ids: ['x', 'r'],
  exchanges: [{ messages: [{ role: 'user', content: 'what is the word?' }] }],
  score: 0,
  feedback: 'it did not say the word',
}

export const REQUEST: TrainRequest = { id: 'i', text: 'say the word', session: 's', release_id: 'r', requires: [] }
