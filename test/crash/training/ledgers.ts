/** Compares what each release holds with what its row says it was made from. */
import { violation, type Violation } from '../oracle.ts'
import { partOf } from './cast.ts'
import { ledgerKey, type Row, type Seen, type SeenRecord, type Snapshot } from './book.ts'

type Lines = readonly string[]
type Find = (release: string | null, component: string) => Lines | undefined

export function judgeLedgers(seen: Seen, ledgers: Snapshot['ledgers']): readonly Violation[] {
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
