/** A thread for one long errand beside the daily work, each on a connection of its own: an export, a check of everything, the search for a tag. */
import { workerData } from 'node:worker_threads'
import type { Damage, ForgetOrder, SearchedPlace } from '../../../src/contract/index.ts'
import type { SealSettings } from '../common/seal.ts'
import { exportScenario, type ExportSettings } from './export.ts'
import { findTagged, forgetArchived, proveForgotten, type Removed, type TaggedRecords } from './forgetting/forget.ts'
import { readFailed, writeRefusal } from './refusals.ts'
import { threadPort } from './thread.ts'
import { verifyStore } from './verify.ts'
import { toWire, type WireRefusal } from './messages/wire.ts'

/** What each errand comes to. */
export interface ErrandResults {
  export: null
  verify: readonly Damage[]
  find_tagged: TaggedRecords
  forget_archived: Removed
  prove_forgotten: readonly SearchedPlace[]
}
export type ErrandReport<Name extends keyof ErrandResults = keyof ErrandResults> =
  | { readonly done: ErrandResults[Name] | WireRefusal }
  | { readonly checked: number; readonly total: number }
type Forgetting = 'find_tagged' | 'forget_archived' | 'prove_forgotten'
export type Errand =
  | ({ readonly errand: 'export' } & ExportSettings)
  | ({ readonly errand: 'verify'; readonly directory: string } & SealSettings)
  | ({ readonly errand: Forgetting; readonly directory: string; readonly order: ForgetOrder } & SealSettings)

const port = threadPort()
const settings: Errand = workerData
const report = (message: ErrandReport) => port.postMessage(message)
try {
  report({ done: run(settings) })
} catch (error) {
  report({ done: toWire(writeRefusal(error) ?? readFailed(error)) })
}

function run(errand: Errand): ErrandResults[keyof ErrandResults] {
  switch (errand.errand) {
    case 'verify':
      return verifyStore(errand.directory, errand, (checked, total) => report({ checked, total }))
    case 'find_tagged':
      return findTagged(errand.directory, errand, errand.order)
    case 'forget_archived':
      return forgetArchived(errand.directory, errand, errand.order)
    case 'prove_forgotten':
      return proveForgotten(errand.directory, errand, errand.order)
    default:
      exportScenario(errand)
      return null
  }
}
