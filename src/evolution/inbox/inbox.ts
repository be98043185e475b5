/** The inbox of a scenario: keeps proposals as documents until a step takes them, oldest first. */
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import {
  ROLES,
  unavailable,
  type Adapter,
  type Admission,
  type Documents,
  type Files,
  type Mutation,
  type Proposals,
  type Release,
  type TrainRequest,
} from '../../contract/index.ts'
import { parseMutations, admitBeside, entriesIn, parseProposal, type NewProposal } from '../../harness/index.ts'
import { Lane, newId, screenText } from '../../kit/index.ts'

/** A proposal as the inbox keeps it. */
const keptSchema = z.object({
  mutations: z.json().transform(parseMutations),
  reason: z.string(),
  session: z.string(),
  release_id: z.string(),
  proposal_id: z.string(),
  /** Seconds since the epoch. */
  received_at: z.number(),
  /** The head it was admitted against. */
  head_release_id: z.string(),
  /** How many steps took it and wrote no row. */
  attempts: z.number().int().nonnegative(),
  /** The token that it was sent with, where that is not one of the configuration. */
  asked_by: z.exactOptional(z.object({ token: z.string(), role: z.enum(ROLES) })),
})
type KeptProposal = Readonly<z.infer<typeof keptSchema>>

/** How often a proposal is tried when its steps write no row. */
const ATTEMPTS_MAX = 3
/** How many refused and settled proposals are kept for people to read. */
const SHOWN_FILES_MAX = 200

const PLACES = ['claimed', 'refused', 'settled'] as const
type Place = 'pending' | (typeof PLACES)[number]

/** A proposal as the row that settled it describes it. */
export interface SettledProposal {
  readonly id: string
  readonly step: number
  readonly selected: boolean
  readonly reason: string
}

/**
 * Every gateway offers proposals; the scenario's one trainer does everything else. Gateways that offer at the same moment may exceed the limit by
 * their number. A move writes the new file before it removes the old
 * one, so a crash leaves both, and the next `reconcile` repeats the move.
 */
export class Inbox {
  readonly #documents: Documents
  readonly #pendingMax: number
  readonly #lane = new Lane()
  #ignored = 0

  constructor(documents: Documents, pendingMax: number) {
    this.#documents = documents
    this.#pendingMax = pendingMax
  }

  /** Keeps the proposal unless the inbox is full. Offers run one at a time: two could both take the last place. */
  offer(
    proposal: NewProposal,
    headReleaseId: string,
    askedBy?: TrainRequest['asked_by'],
  ): Promise<{ readonly proposal_id: string } | 'full'> {
    return this.#lane.run(async () => {
      try {
        const waiting = await this.#idsIn('pending')
        if (waiting.length >= this.#pendingMax) return 'full'
        const proposal_id = nextId(waiting.at(-1))
        const kept = { ...proposal, proposal_id, received_at: Date.now() / 1000, head_release_id: headReleaseId, attempts: 0 }
        const asked = askedBy === undefined ? {} : { asked_by: askedBy }
        await this.#write('pending', { ...kept, ...asked })
        return { proposal_id }
      } catch (cause) {
        const words = 'the proposal cannot be kept; check the disk of evolution.proposals_dir, then send it again'
        throw unavailable('inbox_failed', words, { cause })
      }
    })
  }

  /**
   * Runs before every step. The rows say which proposals are settled. Any other claimed one was left by a crash or by a step without a row, and
   * is pending again.
   */
  async reconcile(settled: readonly SettledProposal[]): Promise<void> {
    for (const place of ['claimed', 'pending'] as const)
      for (const id of await this.#idsIn(place)) {
        const row = settled.find((each) => each.id === id)
        if (row === undefined && place === 'pending') continue
        const kept = await this.#read(place, id)
        if (kept === null) await this.#setAside(place, id)
        else if (row === undefined) await this.#giveBack(kept)
        else await this.#move(kept, place, 'settled', { settled: { step: row.step, selected: row.selected, reason: row.reason } })
      }
  }

  /** Claims the oldest; null when none is pending. An unreadable one is refused, so that it does not block the others. */
  async claim(): Promise<KeptProposal | null> {
    this.#ignored = await this.#countForeign()
    for (const id of await this.#idsIn('pending')) {
      const kept = await this.#read('pending', id)
      if (kept === null) await this.#setAside('pending', id)
      else if (await this.#rename(id, 'pending', 'claimed')) return kept
    }
    return null
  }

  async refuse(id: string, reason: string): Promise<void> {
    const kept = await this.#read('claimed', id)
    if (kept !== null) await this.#move(kept, 'claimed', 'refused', { refused: reason })
  }

  /** Puts a claimed proposal back that could not be tried. */
  async release(id: string): Promise<void> {
    await this.#rename(id, 'claimed', 'pending')
  }

  /** How many files the latest claim found that are not proposals. */
  get ignored(): number {
    return this.#ignored
  }

  /** Oldest first. */
  async #idsIn(place: Place): Promise<readonly string[]> {
    const listed = await this.#documents.list(place === 'pending' ? '' : place)
    return listed.flatMap(({ name }) => PROPOSAL_FILE.exec(name)?.[1] ?? []).sort()
  }

  async #countForeign(): Promise<number> {
    const listed = await this.#documents.list('')
    return listed.filter(({ name }) => !PROPOSAL_FILE.test(name) && !PLACES.some((place) => place === name)).length
  }

  /** Null when the file is damaged, or a person edited it into something else. */
  async #read(place: Place, id: string): Promise<KeptProposal | null> {
    try {
      const kept = keptSchema.parse(JSON.parse(Buffer.from((await this.#documents.read(pathOf(place, id))) ?? []).toString()))
      return kept.proposal_id === id ? kept : null
    } catch {
      return null
    }
  }

  async #giveBack(kept: KeptProposal): Promise<void> {
    // A crash interrupted the move to refused.
    if ((await this.#read('refused', kept.proposal_id)) !== null) return this.#documents.remove(pathOf('claimed', kept.proposal_id))
    const again = { ...kept, attempts: kept.attempts + 1 }
    if (again.attempts >= ATTEMPTS_MAX) await this.#move(again, 'claimed', 'refused', { refused: 'aborted three times' })
    else await this.#move(again, 'claimed', 'pending', {})
  }

  /** Moves an unreadable file unchanged. */
  async #setAside(place: Place, id: string): Promise<void> {
    if (await this.#rename(id, place, 'refused')) this.#ignored += 1
    await this.#trim('refused')
  }

  async #move(kept: KeptProposal, from: Place, to: Place, more: object): Promise<void> {
    await this.#write(to, { ...kept, ...more })
    await this.#documents.remove(pathOf(from, kept.proposal_id))
    if (to === 'refused' || to === 'settled') await this.#trim(to)
  }

  async #write(place: Place, file: KeptProposal): Promise<void> {
    await this.#documents.write(pathOf(place, file.proposal_id), `${JSON.stringify(file, null, 2)}\n`)
  }

  /** False when the file is gone: a person removed it. */
  #rename(id: string, from: Place, to: Place): Promise<boolean> {
    return this.#documents.move(pathOf(from, id), pathOf(to, id))
  }

  async #trim(place: Place): Promise<void> {
    const ids = await this.#idsIn(place)
    for (const id of ids.slice(0, -SHOWN_FILES_MAX)) await this.#documents.remove(pathOf(place, id))
  }
}

const pathOf = (place: Place, id: string): string => (place === 'pending' ? `${id}.json` : `${place}/${id}.json`)

/** Other files in the inbox are not ours. */
const PROPOSAL_FILE = /^(\d{20}-[0-9a-f]{8})\.json$/
const TIME_DIGITS = 20
const NANOSECONDS_PER_MILLISECOND = 1_000_000n

/** The time in nanoseconds, then random digits, so that ids sort by age; newer than `newest` even when the clock was set back. */
function nextId(newest: string | undefined): string {
  const now = BigInt(Date.now()) * NANOSECONDS_PER_MILLISECOND + (process.hrtime.bigint() % NANOSECONDS_PER_MILLISECOND)
  const least = BigInt(newest?.slice(0, TIME_DIGITS) ?? 0) + 1n
  const time = now > least ? now : least
  return `${String(time).padStart(TIME_DIGITS, '0')}-${randomBytes(4).toString('hex')}`
}

interface ProposalParts {
  readonly inbox: Inbox
  readonly adapter: Adapter
  /** Why all proposals are refused, or null. */
  readonly problem: () => Promise<string | null>
  readonly read: (release: Release) => Promise<Files>
}

/** Takes proposals for a scenario: checks each like any other change, and keeps the admitted ones. */
export function openProposals({ inbox, adapter, problem, read }: ProposalParts): Proposals {
  return {
    async offer(body, head, askedBy): Promise<Admission> {
      const proposal = parseProposal(body)
      const { release_id } = head
      const refused = (reason: string): Admission => ({ proposal_id: newId(), admitted: false, reason, release_id })
      const reason = await problem()
      if (reason !== null) return refused(reason)
      const leak = leakIn(proposal)
      if (leak !== null) return refused(`${leak} holds what looks like a credential; take it out, and rotate it if it is real`)
      const tree = await admitBeside(adapter, entriesIn(adapter, await read(head)), proposal.mutations)
      if (!tree.admitted) return refused(tree.reason)
      const kept = await inbox.offer({ ...proposal, mutations: proposal.mutations.map(plainMutation) }, release_id, askedBy)
      return kept === 'full' ? refused('inbox full') : { ...kept, admitted: true, reason: null, release_id }
    },
  }
}

/** These fields are shown in rows and pages. */
const leakIn = (proposal: NewProposal): string | null =>
  (['reason', 'session', 'release_id'] as const).find((field) => screenText(proposal[field]) === 'credential_in_text') ?? null

/** Drops fields that admission does not check. */
function plainMutation(mutation: Mutation): Mutation {
  const { op, id } = mutation
  if (op === 'remove') return { op, id }
  return op === 'create' ? { op, id, options: mutation.options } : { op, id, options: mutation.options }
}
