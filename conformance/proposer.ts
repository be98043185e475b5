/** What every proposer must do, as a suite that any test runner with `describe` and `it` can run. */
import assert from 'node:assert/strict'
import type { Brief, Entry, Mutation, Proposer, Reporter, Sample, TrainRequest } from '../src/contract/index.ts'
import { assertGivenUp, assertPlain, assertUntouched, type Runner } from './support.ts'

export interface ProposerSuite extends Runner {
  readonly proposer: Proposer
  /** A tree of the harness it proposes for. */
  readonly entries: readonly Entry[]
}

const GIVE_UP_MS_MAX = 1000

const samples: readonly Sample[] = [
  { record_ids: ['exchange-1', 'report-1'], exchanges: [{ messages: [] }], score: 0, feedback: 'too long' },
  { record_ids: ['exchange-2', 'report-2'], exchanges: [{}], score: null, feedback: { tone: ['fine', null] } },
]
const request: TrainRequest = { id: 'train-1', text: 'Answer in one sentence.', session: 's', release_id: 'release-1', requires: [] }

export function proposerConformance(suite: ProposerSuite): void {
  const { it, proposer } = suite
  const briefs: Readonly<Record<string, Partial<Brief>>> = {
    samples: { samples },
    'samples and an empty tree': { samples, entries: [] },
    'nothing to learn from': { samples: [] },
    ...(proposer.acceptsRequests && { 'a request': { request }, 'a request and samples': { request, samples } }),
  }
  for (const [what, brief] of Object.entries(briefs)) {
    it(`${what}: it proposes changes that fit the tree, or none`, async () => {
      const given = briefOf(suite, brief)
      assertFits(given.entries, await proposer.propose(given))
    })
  }
  it('the brief is afterwards what it was', async () => {
    const { signal, report, models, ...data } = briefOf(suite, { samples })
    await assertUntouched(data, (given) => proposer.propose({ ...given, signal, report, models }))
  })
  it('after an abort it is soon over', async () => {
    await assertGivenUp(proposer.propose(briefOf(suite, { samples, signal: AbortSignal.abort() })), GIVE_UP_MS_MAX)
  })
}

const SILENT: Reporter = { phase: () => undefined, line: () => undefined }

function briefOf({ entries }: ProposerSuite, brief: Partial<Brief>): Brief {
  return { entries, samples: [], request: null, models: {}, report: SILENT, signal: new AbortController().signal, ...brief }
}

/** Changes apply one after the other: what one of them makes, the next may change. */
function assertFits(entries: readonly Entry[], proposal: Awaited<ReturnType<Proposer['propose']>>): void {
  if (proposal === null) return
  assert.ok(proposal.mutations.length > 0, 'a proposal without a change is null')
  assertPlain(proposal, 'the proposal')
  const ids = new Set(entries.map(({ id }) => id))
  for (const mutation of proposal.mutations) {
    assertFitsIn(ids, mutation)
    if (mutation.op === 'remove') ids.delete(mutation.id)
    else ids.add(mutation.id)
  }
}

function assertFitsIn(ids: ReadonlySet<string>, { op, id }: Mutation): void {
  assert.ok(['create', 'update', 'remove'].includes(op), `${op} is no change`)
  assert.notEqual(id, '')
  assert.equal(ids.has(id), op !== 'create', op === 'create' ? `${id} is there already` : `${id} is not there`)
}
