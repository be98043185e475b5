/** The running totals beside a row: of the chain, of the provisional release, of what people rejected, and of every trainer. They are derived from the rows, and hold for the tree that they were made for. */
import { isObject, type Commit, type Json, type JsonObject } from '../contract/index.ts'
import {
  chainTotals,
  NO_PROVISIONAL,
  printChainTotals,
  printProvisional,
  printRejected,
  provisionalAfter,
  readChainTotals,
  readProvisional,
  readRejected,
  rejectedAfter,
  type ChainTotals,
  type MakerRow,
  type ProvisionalTotals,
  type RejectedContent,
} from '../releases/index.ts'
import { NO_STEPS, tallied, type TrainerTally } from '../training/index.ts'

export interface Totals {
  readonly chain: ChainTotals
  readonly provisional: ProvisionalTotals
  readonly rejected: readonly RejectedContent[]
  readonly trained: ReadonlyMap<string, TrainedTotals>
}

interface TrainedTotals extends TrainerTally {
  /** The step of the trainer's latest row. */
  readonly latest: number
}

/** Totals of another version are worked out again. */
const VERSION = 1

type NamedRows = Parameters<typeof chainTotals>[3]

export function totalsAfter(
  before: Totals | null,
  head: MakerRow | null,
  row: Commit,
  named: NamedRows,
  component: string | undefined,
): Totals {
  const chain = chainTotals(before?.chain ?? null, head, row, named, component)
  const trained = before?.trained ?? new Map<string, TrainedTotals>()
  const provisional = provisionalAfter(before?.provisional ?? NO_PROVISIONAL, row)
  const rejected = rejectedAfter(before?.rejected ?? [], row)
  if (row.operation !== 'train') return { chain, provisional, rejected, trained }
  const own = row.component ?? ''
  const { latest: _latest, ...tally } = trained.get(own) ?? { ...NO_STEPS, latest: -1 }
  return { chain, provisional, rejected, trained: new Map([...trained, [own, { ...tallied(tally, row), latest: row.step }]]) }
}

/** Of a creation row they follow from the row itself. Null where the row has none, or has those of another tree or version. */
export function totalsOf(row: Commit, component: string | undefined): Totals | null {
  if (row.step === 0) return totalsAfter(null, null, row, { own: null, parent: null, target: null }, component)
  const stored = row.totals ?? {}
  if (stored['version'] !== VERSION || stored['component'] !== (component ?? null)) return null
  const chain = readChainTotals(stored)
  const trained = Array.isArray(stored['trained']) ? stored['trained'].map(readTrained) : [null]
  const provisional = readProvisional(stored['provisional'])
  const rejected = readRejected(stored['rejected'])
  if (chain === null || provisional === null || rejected === null || (row.release === null) !== (chain.made === null)) return null
  return trained.every((entry) => entry !== null) ? { chain, provisional, rejected, trained: new Map(trained) } : null
}

export const printTotals = ({ chain, provisional, rejected, trained }: Totals, component: string | undefined): JsonObject => ({
  version: VERSION,
  component: component ?? null,
  ...printChainTotals(chain),
  ...printProvisional(provisional),
  ...printRejected(rejected),
  trained: [...trained].map(([name, { steps, failures, streak, suspicions, triedAt, latest }]) => [
    name,
    { steps, failures, streak, suspicions, triedAt, latest },
  ]),
})

function readTrained(entry: Json): [string, TrainedTotals] | null {
  if (!Array.isArray(entry)) return null
  const [name, counts]: readonly Json[] = entry
  if (typeof name !== 'string' || !isObject(counts)) return null
  const { steps, failures, streak, suspicions, triedAt, latest } = counts
  if (typeof steps !== 'number' || typeof failures !== 'number' || typeof streak !== 'number') return null
  if (typeof suspicions !== 'number' || typeof triedAt !== 'number' || typeof latest !== 'number') return null
  return [name, { steps, failures, streak, suspicions, triedAt, latest }]
}
