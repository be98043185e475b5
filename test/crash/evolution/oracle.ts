/** Judges what evolution made of what the clients sent. Pure: a book and what was seen in, every broken promise out. */
import { isDeepStrictEqual } from 'node:util'
import native from '../../../plugins/adapters/native/index.ts'
import type { Entry } from '../../../src/contract/index.ts'
import { admit } from '../../../src/harness/index.ts'
import { memberIn, textIn } from '../http.ts'
import { violation, type Violation } from '../oracle.ts'
import { judgeHead, judgeSteps } from '../steps.ts'
import { NAMES } from './cast.ts'
import type { Book, Lying, Row, Seen } from './seen.ts'

/** What holds at every moment, also while steps land. */
export function judge(book: Book, seen: Seen): readonly Violation[] {
  return [
    ...book.surprises.map((detail) => violation('answer', detail)),
    ...judgeKept(book, seen),
    ...judgeSteps(seen.name, seen.rows, book.lives[seen.name].rows),
    ...judgeFailures(seen),
    ...judgeConsumed(seen),
    ...judgeProposals(seen),
    ...judgeCounts(seen),
    ...judgeTrees(seen),
    ...judgeStepRecords(seen),
  ]
}

function judgeKept({ lives }: Book, { name, records }: Seen): readonly Violation[] {
  const lost = lives[name].sent.filter(({ id, isKept }) => isKept && !records.has(id))
  return lost.map(({ id }) => violation('lost', `${name}: ${id} was acknowledged and is not stored`))
}

/** On a sound machine no step breaks and every episode is scored, whatever is killed; a proposer may well have nothing to offer. */
function judgeFailures({ name, rows }: Seen): readonly Violation[] {
  const failed = rows.filter(({ metrics }) => metrics['error'] !== undefined || (metrics['episode_failures'] ?? 0) !== 0)
  return failed.map(({ printed }) => violation('failed', `${name}: ${printed}`))
}

function judgeConsumed({ name, rows, records }: Seen): readonly Violation[] {
  const all = rows.flatMap(({ step, consumed }) => consumed.map((id) => ({ id, step })))
  const unknown = all.filter(({ id }) => !records.has(id))
  return [
    ...unknown.map(({ id, step }) => violation('from nowhere', `${name}: step ${step} consumed ${id}, which is not stored`)),
    ...repeated(all).map((detail) => violation('consumed twice', `${name}: ${detail}`)),
  ]
}

/** A proposal is taken up by the one row that settles it. */
function judgeProposals({ name, rows }: Seen): readonly Violation[] {
  const taken = rows.flatMap((row) => (proposalOf(row) === '' ? [] : [{ id: proposalOf(row), step: row.step }]))
  return repeated(taken).map((detail) => violation('proposal', `${name}: ${detail}`))
}

const proposalOf = ({ metrics }: Row): string => textIn(memberIn(metrics, 'proposal'), 'id')

function repeated(all: readonly { readonly id: string; readonly step: number }[]): readonly string[] {
  const groups = [...Map.groupBy(all, ({ id }) => id)].filter(([, steps]) => steps.length > 1)
  return groups.map(([id, steps]) => `${id} by steps ${steps.map(({ step }) => step).join(' and ')}`)
}

const isResumed = ({ metrics }: Seen['rows'][number]): boolean => metrics['pairs_resumed'] !== undefined

/**
 * What the gate goes by has to be what the rows say: how many candidates from traffic were decided before, and how many selected. One that
 * goes on with an open case was counted when it was first decided, and goes by what was so then.
 */
function judgeCounts({ name, rows }: Seen): readonly Violation[] {
  const decided = rows.filter(({ metrics }) => metrics['training_request'] === undefined && typeof metrics['selected'] === 'boolean')
  return decided.flatMap((row, at) => {
    const { decided_before, selected_before } = memberIn(row.metrics, 'evidence')
    const earlier = decided.slice(0, at)
    const before = earlier.filter((each) => !isResumed(each)).length
    const selected = earlier.filter(({ metrics }) => metrics['selected'] === true).length
    const isSame = decided_before === before && selected_before === selected
    const isOlder = isResumed(row) && Number(decided_before) <= before && Number(selected_before) <= selected
    if (decided_before === undefined || isSame || isOlder) return []
    const claimed = JSON.stringify({ decided_before, selected_before })
    return [violation('counts', `${name}: step ${row.step} went by ${claimed} where there were ${before} and ${selected}`)]
  })
}

/** A release is its parent and the changes that its row names, no more and no less. One that is held is nobody's parent. */
function judgeTrees({ name, rows, trees }: Seen): readonly Violation[] {
  const released = rows.filter(({ release }) => release !== null)
  return released.flatMap(({ step, release, mutations }) => {
    const own = trees.get(release ?? '')
    const served = released.findLast((earlier) => earlier.step < step && earlier.result !== 'pending')
    const parent = trees.get(served?.release ?? '')
    if (own === undefined) return [violation('tree', `${name}: the release of step ${step} cannot be read`)]
    if (step === 0 || parent === undefined) return []
    const expected = admit(native.plugin, parent, mutations)
    const isRight = expected.admitted && isDeepStrictEqual(unsigned(expected.entries), unsigned(own))
    return isRight ? [] : [violation('tree', `${name}: the release of step ${step} is not what its row says`)]
  })
}

/** The step notes who wrote an entry; a mutation cannot say it. */
const unsigned = (entries: readonly Entry[]) => entries.map((entry) => ({ ...entry, author: null }))

/** A step that says where its files are has left some; here nothing is ever pruned. */
function judgeStepRecords({ name, rows, stepRecords }: Seen): readonly Violation[] {
  const bad = rows.filter(({ step, metrics }) => {
    const expected = metrics['step_record'] === undefined ? 'not_recorded without files' : 'retained with files'
    return stepRecords.get(step) !== expected || metrics['step_record_error'] !== undefined
  })
  return bad.map(({ step, printed }) => violation('step record', `${name}: ${stepRecords.get(step)} for ${printed}`))
}

/** What the disk has to hold at every moment, also right after a kill: whatever was admitted. */
export function judgeInbox({ lives }: Book, inbox: readonly Lying[]): readonly Violation[] {
  const there = new Set(inbox.map(({ id }) => id))
  const lost = NAMES.flatMap((name) => lives[name].admitted).filter((id) => !there.has(id))
  const unreadable = inbox.filter(({ file }) => file === null)
  return [
    ...lost.map((id) => violation('lost', `proposal ${id} was admitted and lies nowhere`)),
    ...unreadable.map(({ id, place }) => violation('proposal', `${id} cannot be read (${place})`)),
  ]
}

/** What holds once every report and instruction is settled and a last step has looked through the inbox. */
export function judgeEnd(book: Book, all: readonly Seen[], inbox: readonly Lying[]): readonly Violation[] {
  return [
    ...all.flatMap((seen) => [...judgeWork(book, seen), ...judgeHead(seen.name, seen.rows, seen.head)]),
    ...judgeInbox(book, inbox),
    ...judgePlaces(
      all.flatMap(({ rows }) => rows),
      inbox,
    ),
  ]
}

export function judgeWork({ lives }: Book, { name, rows }: Seen): readonly Violation[] {
  const consumed = new Set(rows.flatMap((row) => row.consumed))
  const waiting = lives[name].sent.filter(({ id }) => !consumed.has(id))
  return waiting.map(({ id }) => violation('unfinished', `${name}: ${id} waits`))
}

/** Each proposal lies in one place, and a decided one where its row says. */
function judgePlaces(rows: readonly Row[], inbox: readonly Lying[]): readonly Violation[] {
  const decided = new Map(rows.filter(({ metrics }) => typeof metrics['selected'] === 'boolean').map((row) => [proposalOf(row), row]))
  const groups = [...Map.groupBy(inbox, ({ id }) => id)]
  const scattered = groups.filter(([, lying]) => lying.length > 1)
  const wrong = inbox.filter((lying) => lying.place === 'claimed' || !isWhereItBelongs(lying, decided.get(lying.id)))
  return [
    ...scattered.map(([id, lying]) => violation('proposal', `${id} is ${lying.map(({ place }) => place).join(' and ')}`)),
    ...wrong.map(({ id, place }) => violation('proposal', `${id} is ${place}, and its row is ${decided.get(id)?.printed}`)),
  ]
}

function isWhereItBelongs({ place, file }: Lying, row: Row | undefined): boolean {
  if (row === undefined) return place !== 'settled'
  const { step, selected } = memberIn(file ?? {}, 'settled')
  return place === 'settled' && step === row.step && selected === row.metrics['selected']
}
