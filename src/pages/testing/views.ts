/** The views of a scenario with a past, for the tests: a creation, a published step, one that was asked for and is held, one that failed. */
import type { Entry, JsonObject } from '../../contract/index.ts'
import { madeRelease } from '../../presentation/index.ts'
import type { PageRow, RequestView, VersionView } from '../view.ts'

const RULES = Array.from({ length: 40 }, (_, n) => `Rule ${n + 1}: keep to what was asked, and say so when something is left open.`)

export const RULES_TEXT = RULES.join('\n')

export const TREE: readonly Entry[] = [
  { id: 'house-rules', name: 'rules', config: { text: RULES_TEXT } },
  { id: 'old-skill', name: 'skill', config: { name: 'old-skill', text: '# Old\n\nNobody uses this any more.' } },
]

const changedRules = RULES.with(19, 'Rule 20: keep to what was asked, and ask back when something is left open.').toSpliced(30, 1)

const CODE = `export default async function search({ query }) {
  const answer = await fetch(\`https://example.org/search?q=\${encodeURIComponent(query)}\`)
  return (await answer.json()).results.slice(0, 5)
}`

/** Everything that a step on traffic records. */
export const USUAL_METRICS: JsonObject = {
  steps: 2,
  traces: 6,
  evaluation_context: { model: 'sonnet', adapter: 'pi', adapter_version: '0.61.1' },
  evaluation_task_count: 24,
  mutations: [
    { op: 'update', id: 'house-rules', options: { config: { text: changedRules.join('\n') } } },
    {
      op: 'create',
      id: 'search',
      options: { name: 'native_tool', config: { name: 'search', description: 'Searches the web.', code: CODE } },
    },
    { op: 'remove', id: 'old-skill' },
  ],
  proposal_notes: {
    design:
      'The agent guesses where it should ask. One rule is reworded, and it gets a tool to look things up.\n\nHow to use: nothing to do; ask as before.',
    attempts: 2,
  },
  wins: 14,
  losses: 2,
  ties: 8,
  current_score: 9,
  candidate_score: 21,
  episode_failures: 1,
  episode_repeats: 1,
  episodes_used: 44,
  episodes_cached: 4,
  episodes_saved: 436,
  proposer_calls: 3,
  proposer_input_tokens: 18_240,
  proposer_output_tokens: 2210,
  candidate_episodes: [
    { task: 'vat', score: 1 },
    { task: 'invoice-total', score: 0, failure: 'the episode took longer than 300 s' },
  ],
  selected: true,
  published: true,
  selection: {
    policy: 'evidence',
    outcome: 'select',
    reason: 'better on 14 of 24 tasks, worse on 2: the evidence is strong enough (1 in 96 by luck, 1 in 41 needed)',
  },
  step_record: '00000002-01a1dd53',
  evidence: {
    test: 'superiority',
    e_value: 96.4,
    e_value_tasks: 58.1,
    threshold: 40.55,
    alpha_spent: 0.02466,
    decided_before: 0,
    selected_before: 0,
    mean_difference: 0.5,
    interval: [0.14, 0.78],
    differences: [1, 0, 1, 1, -1, 0, 1, 0.5, 1, 0, 0, 1, 1, 0, 1, -0.5, 1, 0, 1, 0.25, 0, 1, 0, 1],
    pairs: 24,
    tasks: 24,
    episodes_cap: 480,
    stopped: 'success',
  },
}

export const REQUEST_ID = '01a1dd53a5f0700083cfdfa6703ee9ea'

/** Everything that a step on a request records. */
const ASKED_METRICS: JsonObject = {
  training_request: {
    id: REQUEST_ID,
    text: 'Translate answers into French when I write in French.',
    session: 'session-17',
    release_id: id(1),
    requires: [{ name: 'DEEPL_KEY', kind: 'env', prompt: 'The key of your DeepL account.' }],
    refused_requires: [{ item: 'bad name', reason: 'name must be a short text' }],
  },
  mutation: { op: 'create', id: 'french', options: { name: 'rules', config: { text: 'Answer in the language of the question.' } } },
  proposal_notes: {
    design: '## Plan\nOne rule.\n\n## How to use\nWrite in French.',
    review: { result: 'partial', covered: ['answers in French'], uncovered: ['says nothing of other languages'] },
    undeclared_env: ['DEEPL_URL'],
  },
  selection: {
    policy: 'evidence',
    outcome: 'select',
    reason:
      'at most 0.05 worse in the mean score of the 3 protected tasks: the evidence is strong enough (1 in 25 by luck, 1 in 20 needed)',
  },
  evidence: {
    test: 'non_inferiority',
    e_value: 25,
    threshold: 20,
    margin: 0.05,
    mean_difference: 0,
    interval: [-0.1, 0.12],
    pairs: 66,
    stopped: 'success',
  },
  ties: 66,
  wins: 0,
  losses: 0,
}

export function id(step: number): string {
  return String(step).repeat(40).slice(0, 40)
}

function row(step: number, more: Partial<PageRow>): PageRow {
  return {
    step,
    operation: 'train',
    release_id: id(step),
    parent_release_id: step === 0 ? null : id(step - 1),
    recorded_at: 1_794_714_609 + 3600 * step,
    pending: false,
    result: 'published',
    metrics: {},
    ...more,
  }
}

/** v0 created, v1 published, v2 held, v3 failed on v1. */
export const ROWS: readonly PageRow[] = [
  row(0, { operation: 'create' }),
  row(1, { metrics: USUAL_METRICS }),
  row(2, { pending: true, result: 'pending', metrics: ASKED_METRICS }),
  row(3, {
    release_id: id(1),
    parent_release_id: id(0),
    result: 'failed',
    metrics: { error: 'the model call failed: no answer after 60 s', failed_stage: 'proposing', skipped: 'step failed', traces: 1 },
  }),
]

/** Promotes v2. */
export const PROMOTION = row(4, { operation: 'promote', parent_release_id: id(1), rollback_target_release_id: id(2) })

/** Rejects v2. */
export const REJECTION = row(4, {
  operation: 'reject',
  result: 'rejected',
  release_id: id(2),
  parent_release_id: id(1),
  rollback_target_release_id: id(2),
  metrics: { reason: 'It says nothing of <b>other</b> languages.' },
})

/** All rows of a catalog: a view holds those that made or reject a release, and the one it is about. */
interface Catalog {
  readonly rows?: readonly PageRow[]
}

const releasesIn = (rows: readonly PageRow[]): VersionView['releases'] =>
  new Map([...rows.entries()].filter(([, each]) => madeRelease(each) || each.operation === 'reject' || each.operation === 'comment'))

function rowAt(rows: readonly PageRow[], place: number): PageRow {
  const found = rows[place]
  if (found === undefined) throw new Error('the rows of the tests are gone')
  return found
}

export const versionView = (place: number, { rows = ROWS, ...more }: Partial<VersionView> & Catalog = {}): VersionView => ({
  scenario: 'support',
  query: '?scenario=support&key=k',
  releases: releasesIn(rows),
  place,
  last: rows.length - 1,
  row: rowAt(rows, place),
  before: TREE,
  carried: [{ name: 'GIT', kind: 'service', check: 'git --version' }],
  ...more,
})

export const requestView = ({ rows = ROWS, place = 2, ...more }: Partial<RequestView> & Catalog = {}): RequestView => ({
  scenario: 'support',
  query: '?scenario=support&key=k',
  releases: releasesIn(rows),
  row: place === null ? null : rowAt(rows, place),
  place,
  hasVersions: true,
  before: TREE,
  wrapper: 'svc-pi',
  now: 1_794_714_700,
  request: {
    id: REQUEST_ID,
    created_at: 1_794_714_600,
    asked: {
      text: 'Translate answers into French when I write in French.',
      session: 'session-17',
      release_id: id(1),
      client: { platform: 'linux', arch: 'x64' },
    },
  },
  progress: { state: 'pending', meaning: null, started_at: null, episodes_total: null, step_record: null, activity: [] },
  running: null,
  ...more,
})

/** A step holds the request. */
export const underWay = (more: Partial<RequestView['progress']> = {}): RequestView =>
  requestView({
    place: null,
    rows: ROWS.slice(0, 2),
    progress: {
      state: 'evaluating',
      meaning: "The candidate's episodes run.",
      started_at: 1_794_714_615,
      episodes_total: 48,
      step_record: '00000002-01a1dd53',
      activity: [
        { at: 1_794_714_616, kind: 'proposer', text: 'writes a plan' },
        { at: 1_794_714_631, kind: 'model', text: 'served: 1,204 tokens in, 310 out' },
        { at: 1_794_714_680, kind: 'check', text: 'admitted: create french' },
        { at: 1_794_714_690, kind: 'trial', text: 'vat: candidate no score, current 1', failed: true },
      ],
      ...more,
    },
  })
