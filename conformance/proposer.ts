/** Conformance suite for proposers, for any test runner with `describe` and `it`. */
import assert from 'node:assert/strict'
import type { Adapter, Brief, Entry, JsonObject, Model, Proposal, Proposer, Reporter, Sample, TrainRequest } from '../src/contract/index.ts'
import { admit } from '../src/harness/index.ts'
import { assertGivenUp, assertPlain, assertUntouched, never, QUIET, type Runner } from './support.ts'

export interface ProposerSuite extends Runner {
  readonly proposer: Proposer
  readonly adapter: Adapter
  readonly entries: readonly Entry[]
  /** Absent: it needs no model. */
  readonly models?: Readonly<Record<string, Model>>
}

const GIVE_UP_MS_MAX = 1000

const samples: readonly Sample[] = [
  {
    record_ids: ['exchange-1', 'report-1'],
    exchanges: [{ messages: [{ role: 'user', content: 'Tell me of the sea.' }], response: answer('It is wet. '.repeat(50)) }],
    score: 0,
    feedback: 'too long',
  },
  { record_ids: ['exchange-2', 'report-2'], exchanges: [{ messages: [] }], score: null, feedback: { tone: ['fine', null] } },
  { record_ids: ['exchange-3'], exchanges: [{}], score: 1, feedback: null, task: { name: 'sea' } },
]
const request: TrainRequest = { id: 'train-1', text: 'Answer in one sentence.', session: 's', release_id: 'release-1', requires: [] }

export function proposerConformance(suite: ProposerSuite): void {
  const { it, proposer, models = {} } = suite
  const briefs: Readonly<Record<string, Partial<Brief>>> = {
    samples: { samples },
    'samples and an empty tree': { samples, entries: [] },
    'samples, and the memory of another': { samples, memory: { of: ['another', { version: 0 }] } },
    'nothing to learn from': { samples: [] },
    ...(proposer.acceptsRequests && { 'a request': { request }, 'a request and samples': { request, samples } }),
  }
  for (const [what, brief] of Object.entries(briefs)) {
    it(`${what}: it proposes changes that the tree admits, or none`, async () => {
      const given = briefOf(suite, { ...brief, models })
      assertFits(given, await proposer.propose(given))
    })
  }
  it('without a model it throws, or proposes what the tree admits, or nothing', async () => {
    const given = briefOf(suite, { samples })
    const proposal = await proposer.propose(given).catch(() => null)
    assertFits(given, proposal)
  })
  it('the brief is afterwards what it was', async () => {
    const brief = briefOf(suite, { samples, models })
    const { entries, tasks, rejected, memory } = brief
    const data = structuredClone({ entries, samples: brief.samples, tasks, rejected, memory })
    await assertUntouched(data, (given) => proposer.propose({ ...brief, ...given }))
  })
  it('after an abort it is soon over', async () => {
    const brief = briefOf(suite, { samples, models: { served: SILENT }, signal: AbortSignal.abort() })
    await assertGivenUp(proposer.propose(brief), GIVE_UP_MS_MAX)
  })
  it('stopped while a model thinks, it is soon over', async () => {
    const stopping = new AbortController()
    const { promise: asked, resolve: isAsked } = Promise.withResolvers<null>()
    const thinking = thinkingModel(stopping.signal, () => isAsked(null))
    const work = proposer.propose(briefOf(suite, { samples, models: { served: thinking }, signal: stopping.signal }))
    await Promise.race([asked, work.catch(() => null)])
    stopping.abort()
    await assertGivenUp(work, GIVE_UP_MS_MAX)
  })
}

/** An empty brief about this tree, with the given fields. */
export function briefOf({ adapter, entries }: Pick<Brief, 'adapter' | 'entries'>, given: Partial<Brief> = {}): Brief {
  const tree = given.entries ?? entries
  return {
    adapter,
    entries: tree,
    samples: [],
    request: null,
    models: {},
    tasks: [],
    rejected: [],
    memory: {},
    check: (mutations) => {
      const admitted = admit(adapter, tree, mutations)
      return admitted.admitted ? null : admitted.reason
    },
    trial: () => Promise.resolve({ score: null, failure: 'no agent is installed here', episode: null }),
    report: QUIET,
    signal: never(),
    ...given,
  }
}

/** A reporter that collects lines. */
export const hearing = (lines: string[]): Reporter => ({
  ...QUIET,
  line: (kind, words, failed) => void lines.push(`${kind}: ${words}${failed === true ? ' (failed)' : ''}`),
})

const fail = (): Promise<never> => Promise.reject(new Error('no answer'))
/** Every call fails. */
const SILENT: Model = { name: 'silent', chat: fail, turn: fail }

/** Never answers; like the real models, it rejects when the step is aborted. */
function thinkingModel(signal: AbortSignal, onCall: () => void): Model {
  const think = (): Promise<never> => {
    const { promise, reject } = Promise.withResolvers<never>()
    signal.addEventListener('abort', () => reject(new Error('the step was stopped')), { once: true })
    onCall()
    return promise
  }
  return { name: 'thinking', chat: think, turn: think }
}

/** A proposal without a change must say why in `notes.failure`. */
function assertFits(brief: Brief, proposal: Proposal | null): void {
  if (proposal === null) return
  assertPlain(proposal, 'the proposal')
  if (proposal.mutations.length === 0) assert.equal(typeof proposal.notes?.['failure'], 'string', 'nothing to propose is null')
  else assert.equal(brief.check(proposal.mutations), null)
}

function answer(content: string): JsonObject {
  return { choices: [{ index: 0, message: { role: 'assistant', content } }] }
}
