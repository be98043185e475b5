/** One person: counted first, then what was made of their records, then the records, then a look at every place where something could be left. */
import {
  unsupported,
  type AuditEntry,
  type ContentStore,
  type ForgetBody,
  type ForgetOrder,
  type Forgotten,
  type ForgottenPerson,
  type Store,
} from '../contract/index.ts'
import { mentionsOf } from '../kit/index.ts'
import { forgetDerived, type Derived, type KeptFiles, type RecipeFolders } from './derived.ts'
import { placesOfDocuments, placesOfFiles, placesOfReleases } from './places.ts'

export interface ForgettingNeeds {
  readonly recordsFolder: string
  readonly recipes: RecipeFolders
  /** Whether what scenarios keep beside the rows is encrypted. */
  readonly isEncrypted: boolean
  /** The name of the store, for a refusal. */
  readonly backend: string
  /** The deployment's own store first, then copies of it. Null where one cannot. */
  forgetRecords(order: ForgetOrder): Promise<readonly Forgotten[] | null>
  /** The store is open during the work. */
  useStore<T>(work: (store: Store, files: KeptFiles) => Promise<T>): Promise<T>
  useContents<T>(work: (contents: Pick<ContentStore, 'read'>) => Promise<T>): Promise<T>
  /** Who asked, for the audit. */
  readonly actor: Pick<AuditEntry, 'id' | 'by' | 'role' | 'from'>
  readonly clock: () => number
  /** What may still hold something while the service runs. */
  unsearched?(): readonly string[]
}

export const orderOf = ({ name, value, dry_run: isTrial }: ForgetBody): ForgetOrder => ({ tag: [name.toLowerCase(), value], isTrial })

export async function forgetPerson(needs: ForgettingNeeds, body: ForgetBody): Promise<ForgottenPerson> {
  const { value, dry_run: isTrial } = body
  const order = orderOf(body)
  // A copy that is not there or in use is told before anything is removed, and what was made of the records is found by them.
  const counted = await needs.forgetRecords({ ...order, isTrial: true })
  if (counted === null)
    throw unsupported('forget_unsupported', `the store ${needs.backend} cannot remove records by their tag; sqlite and postgres can`)
  const ids = counted[0]?.ids ?? []
  const derive = () => needs.useStore((store, files) => forgetDerived({ store, files, recipes: needs.recipes }, ids, isTrial))
  const derived = await derive()
  if (isTrial) return reportOf({ order, found: counted, derived, beside: [], unsearched: [] })
  const found = (await needs.forgetRecords(order)) ?? []
  // A step that ended meanwhile may have written its files after the first look.
  const later = await derive()
  const beside = [
    ...placesOfFiles(needs.recordsFolder, needs.recipes, mentionsOf(value)),
    ...(await needs.useStore(async (store, files) => {
      await note(needs, store, order, found)
      const documents = needs.isEncrypted ? await placesOfDocuments(store, files, mentionsOf(value)) : []
      return [...documents, ...(await needs.useContents((contents) => placesOfReleases(store, contents, mentionsOf(value))))]
    })),
  ]
  const all = { tasks: derived.tasks + later.tasks, step_records: derived.step_records + later.step_records }
  return reportOf({ order, found, derived: all, beside, unsearched: needs.unsearched?.() ?? [] })
}

/** That somebody was forgotten, though not who: with the value it would be one more place that knows the person. */
async function note({ actor, clock }: ForgettingNeeds, store: Store, { tag }: ForgetOrder, found: readonly Forgotten[]): Promise<void> {
  const { rewritten: _rewritten, ...after } = countsOf(found)
  await store.deployment.addAudit({ ...actor, at: clock(), action: 'forget', scenario: null, target: tag[0], before: null, after })
}

interface Outcome {
  readonly order: ForgetOrder
  readonly found: readonly Forgotten[]
  readonly derived: Derived
  readonly beside: ForgottenPerson['places']
  readonly unsearched: readonly string[]
}

function reportOf({ order: { tag, isTrial }, found, derived, beside, unsearched }: Outcome): ForgottenPerson {
  const places = [...found.flatMap((each) => each.places), ...beside]
  const { rewritten, ...counts } = countsOf(found)
  return {
    tag: { [tag[0]]: tag[1] },
    removed: !isTrial,
    ...counts,
    ...derived,
    rewritten,
    scenarios: [...new Set(found.flatMap((each) => each.scenarios))],
    places,
    left: places.filter((place) => place.found > 0).length,
    unsearched: [...new Set([...found.flatMap((each) => each.unsearched ?? []), ...unsearched])],
    receipts: found[0]?.ids ?? [],
  }
}

type Counts = Pick<ForgottenPerson, 'records' | 'reports' | 'rewritten'>

/** Of all of these together. */
export function countsOf(found: readonly Counts[]): Counts {
  const sum = (count: keyof Counts): number => found.reduce((before, each) => before + each[count], 0)
  return { records: sum('records'), reports: sum('reports'), rewritten: sum('rewritten') }
}
