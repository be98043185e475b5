/** Chooses the candidate to offer, and writes its notes and the memory. */
import type { Brief, JsonObject, Proposal } from '../../../src/contract/index.ts'
import { gainOf, memoryOf, withCandidate, type EditCandidate } from './archive.ts'
import { WON } from './coreset.ts'
import { meanOf, type Search } from './draft.ts'

/** Tolerance for rounding. */
const GAIN_MIN = 1e-9

/** The candidate with the largest gain, the shortest of equals. */
export function bestOf(brief: Brief, search: Search): EditCandidate | null {
  const fresh = search.tried.map(({ candidate }) => candidate)
  const { base, candidates } = search.archive
  const old = candidates.filter((each) => each.base === base && each.outcome === 'shelved' && !fresh.some(({ id }) => id === each.id))
  const pool = [
    ...fresh.filter((candidate) => isOffered(brief, search, candidate)),
    ...(brief.request === null ? old.filter((candidate) => gainOf(candidate) > GAIN_MIN) : []),
  ]
  return pool.toSorted((a, b) => gainOf(b) - gainOf(a) || sizeOf(a) - sizeOf(b)).at(0) ?? null
}

/** A candidate must gain where a task could be improved; otherwise it must not lose. */
function isOffered({ request }: Brief, { current }: Search, candidate: EditCandidate): boolean {
  const gain = gainOf(candidate)
  if (gain > GAIN_MIN || gain < -GAIN_MIN) return gain > 0
  return request !== null || candidate.scores.length === 0 || current.every((run) => meanOf(run) >= WON)
}

const sizeOf = ({ mutations }: EditCandidate): number => JSON.stringify(mutations).length

/** Without a candidate the proposal holds only notes and memory; null when there is nothing to remember. */
export function proposalOf(brief: Brief, search: Search): Proposal | null {
  const best = bestOf(brief, search)
  if (best === null) {
    if (brief.request === null && search.current.length === 0) return null
    return { mutations: [], notes: { failure: failureOf(brief, search), ...countsOf(search) }, memory: memoryOf(search.archive) }
  }
  const archive = brief.request === null ? withCandidate(search.archive, { ...best, outcome: 'unknown' }) : search.archive
  return {
    mutations: best.mutations,
    ...(best.requires.length > 0 && { requires: best.requires }),
    notes: notesOf(best, search),
    memory: memoryOf(archive),
  }
}

function failureOf({ request }: Brief, { tried }: Search): string {
  if (tried.length === 0) return 'there was no edit that could be tried'
  return request === null ? 'no edit did better on the train tasks than the harness as it is' : 'every edit made the train tasks go worse'
}

const notesOf = ({ design, reflection, parents, scores }: EditCandidate, search: Search): JsonObject => ({
  design,
  reflection,
  parents,
  train_scores: scores.map((score) => ({ ...score })),
  ...countsOf(search),
})

const countsOf = ({ tried, archive }: Search): JsonObject => ({ tried: tried.length, kept: archive.candidates.length })
