/** Judges what training made of what the clients sent. Pure: a book and what was seen in, every broken promise out. */
import { violation, type Violation } from '../oracle.ts'
import { judgeHead, judgeSteps } from '../steps.ts'
import { ledgerKey, type Book, type Life, type Row, type Seen, type SeenRecord, type Snapshot } from './book.ts'
import { partOf } from './cast.ts'

/** What holds at every moment, also while steps land. */
export function judge(book: Book, snapshot: Snapshot): readonly Violation[] {
  const listed = new Set(snapshot.scenarios.map(({ name }) => name))
  const missing = [...book.lives].filter(([name, { fate }]) => fate === 'kept' && !listed.has(name))
  return [
    ...book.surprises.map((detail) => violation('answer', detail)),
    ...missing.map(([name]) => violation('scenario', `${name} is not listed`)),
    ...snapshot.scenarios.flatMap((seen) => judgeScenario(book.lives.get(seen.name), seen, snapshot)),
  ]
}

function judgeScenario(life: Life | undefined, seen: Seen, { ledgers }: Snapshot): readonly Violation[] {
  if (life === undefined) return [violation('scenario', `${seen.name} is listed and was removed or never made`)]
  return [
    ...judgeKept(life, seen),
    ...judgeSteps(seen.name, seen.rows, life.rows),
    ...judgeConsumed(life, seen),
    ...judgeLedgers(seen, ledgers),
  ]
}

/** What was acknowledged is there: records by their id, moves by the row they were answered with. */
function judgeKept({ sent, moved }: Life, { name, rows, records }: Seen): readonly Violation[] {
  const stored = new Set(records.map(({ id }) => id))
  const lost = [...sent.values()].filter(({ id, fate }) => fate === 'kept' && !stored.has(id))
  const unmoved = moved.filter(({ step, target }) => rows[step]?.target !== target && rows[step]?.release !== target)
  return [
    ...lost.map(({ id, type }) => violation('lost', `${name}: ${type} ${id} was acknowledged and is not stored`)),
    ...unmoved.map(({ step, target }) =>
      violation('lost', `${name}: the move to ${target} was answered with step ${step}, which is another`),
    ),
  ]
}

/** A record is consumed once by each component, an instruction once by all of them together. */
function judgeConsumed({ sent }: Life, { name, rows, records }: Seen): readonly Violation[] {
  const types = new Map(records.map(({ id, type }) => [id, type]))
  const first = new Map<string, number>()
  return rows.flatMap(({ step, component, consumed }) =>
    consumed.flatMap((id) => {
      if (!types.has(id) || sent.get(id)?.fate === 'refused')
        return [violation('from nowhere', `${name}: step ${step} consumed ${id}, which is not stored`)]
      const key = types.get(id) === 'train' ? id : `${component}/${id}`
      const earlier = first.get(key)
      first.set(key, step)
      return earlier === undefined ? [] : [violation('consumed twice', `${name}: ${id} by steps ${earlier} and ${step}`)]
    }),
  )
}

type Lines = readonly string[]
type Find = (release: string | null, component: string) => Lines | undefined

/** What each release holds is what its row says it was made from. */
function judgeLedgers(seen: Seen, ledgers: Snapshot['ledgers']): readonly Violation[] {
  const find: Find = (release, component) => ledgers.get(ledgerKey(release ?? '', component))
  const records = new Map(seen.records.map((record) => [record.id, record]))
  return seen.rows.flatMap((row) =>
    row.release === null ? [] : partOf(seen.name).components.flatMap((component) => judgeLedger(seen, row, component, find, records)),
  )
}

function judgeLedger(seen: Seen, row: Row, component: string, find: Find, records: ReadonlyMap<string, SeenRecord>): readonly Violation[] {
  const own = find(row.release, component)
  if (own === undefined) return [violation('unreadable', `${seen.name}: ${row.release} of step ${row.step} has no ledger`)]
  if (row.operation === 'create') return own.length === 0 ? [] : [violation('ledger', `${seen.name} was created with a ledger`)]
  if (row.operation === 'train' && row.component === component) return judgeAdded(seen, row, own, find(row.parent, component), records)
  const source = sourceOf(seen, row, component)
  return isSame(own, find(source, component))
    ? []
    : [violation('ledger', `${seen.name}: ${component} of step ${row.step} is not as in ${source}`)]
}

/** Where a component comes from that no step changed: a rollback restores all, a promote brings the held one's own. */
function sourceOf({ rows }: Seen, { operation, parent, target }: Row, component: string): string | null {
  if (operation === 'rollback') return target
  const held = rows.find(({ release }) => release === target)
  return operation === 'promote' && held?.component === component ? target : parent
}

function judgeAdded(
  seen: Seen,
  row: Row,
  own: Lines,
  before: Lines | undefined,
  records: ReadonlyMap<string, SeenRecord>,
): readonly Violation[] {
  if (before === undefined) return [violation('unreadable', `${seen.name}: the parent of step ${row.step} has no ledger`)]
  if (!isSame(own.slice(0, before.length), before))
    return [violation('ledger', `${seen.name}: the ledger of step ${row.step} does not go on from its parent's`)]
  const added = own.slice(before.length).flatMap((line) => line.split(' ').slice(1))
  const consumed = new Set(row.consumed)
  const strange = added.filter((id) => !consumed.has(id))
  const usedUp = new Set([...usedBefore(seen.rows, row), ...added])
  const unused = row.consumed.filter((id) => !added.includes(id) && !isSetAside(records.get(id), usedUp))
  return [
    ...(added.length === 0 ? [violation('ledger', `${seen.name}: step ${row.step} published and learned nothing`)] : []),
    ...strange.map((id) => violation('ledger', `${seen.name}: step ${row.step} learned from ${id} and did not consume it`)),
    ...unused.map((id) => violation('ledger', `${seen.name}: step ${row.step} consumed ${id} and did not learn from it`)),
  ]
}

/** Everything this trainer had consumed before that row. */
function usedBefore(rows: readonly Row[], { step, component }: Row): readonly string[] {
  return rows.filter((row) => row.step < step && row.component === component).flatMap(({ consumed }) => consumed)
}

/** A report whose exchange another one used up joins the next row. */
function isSetAside(record: SeenRecord | undefined, usedUp: ReadonlySet<string>): boolean {
  return record?.type === 'report' && record.references.some((id) => usedUp.has(id))
}

const isSame = (one: Lines, other: Lines | undefined): boolean =>
  other !== undefined && one.length === other.length && one.every((line, at) => line === other[at])

/** What holds at rest; judged again until it does, or until patience ends. */
export function judgeRest({ scenarios, held }: Snapshot): readonly Violation[] {
  return scenarios.flatMap((seen) => [...judgeWork(seen), ...judgeServed(seen), ...judgeHeld(seen, held)])
}

function judgeWork({ name, mode, rows, records }: Seen): readonly Violation[] {
  if (mode === null) return [violation('unfinished', `${name} is not loaded`)]
  const { components, batch } = partOf(name)
  const all = new Set(rows.flatMap(({ consumed }) => consumed))
  const asked = records.filter(({ id, type }) => type === 'train' && mode !== 'auto' && !all.has(id))
  const full = components.filter((component) => mode !== 'manual' && waitingUnits(component, rows, records) >= batch)
  return [
    ...asked.map(({ id }) => violation('unfinished', `${name}: instruction ${id} waits`)),
    ...full.map((component) => violation('unfinished', `${name}/${component}: a full batch waits`)),
  ]
}

/** A report whose exchange was used up is no unit: it is set aside with the next row. */
function waitingUnits(component: string, rows: readonly Row[], records: readonly SeenRecord[]): number {
  const used = new Set(rows.filter((row) => row.component === component).flatMap(({ consumed }) => consumed))
  const isWaiting = ({ id, type, references }: SeenRecord): boolean =>
    type === 'report' && references.length > 0 && ![id, ...references].some((one) => used.has(one))
  return records.filter(isWaiting).length
}

function judgeServed({ name, rows, head, current, statusStep, pointer }: Seen): readonly Violation[] {
  const newest = rows.findLast(({ result }) => result === 'published')
  const last = rows.at(-1)?.step
  return [
    ...judgeHead(name, rows, head),
    ...(current.length === 1 && current[0] === newest?.step ? [] : [violation('head', `${name}: steps ${current.join()} are current`)]),
    ...(statusStep === last ? [] : [violation('head', `${name}: the status shows step ${statusStep}, and the last row is ${last}`)]),
    ...(pointer === newest?.release ? [] : [violation('pointer', `${name} points at ${pointer} and serves ${newest?.release}`)]),
  ]
}

function judgeHeld({ name, rows }: Seen, held: ReadonlySet<string>): readonly Violation[] {
  const promoted = new Set(rows.filter(({ operation }) => operation === 'promote').map(({ target }) => target))
  const waiting = rows.filter(({ result, release }) => result === 'pending' && !promoted.has(release))
  return waiting
    .filter(({ release }) => release !== null && !held.has(release))
    .map(({ step, release }) => violation('hold', `${name}: ${release} of step ${step} waits for review without a ref`))
}
