/** A thread for one long errand beside the daily work: an export or a check of everything, each on a connection of its own. */
import { workerData } from 'node:worker_threads'
import type { Damage } from '../../../src/contract/index.ts'
import type { SealSettings } from '../common/seal.ts'
import { exportScenario, type ExportSettings } from './export.ts'
import { readFailed, writeRefusal } from './refusals.ts'
import { threadPort } from './thread.ts'
import { verifyStore } from './verify.ts'
import { toWire, type WireRefusal } from './wire.ts'

/** Damages: what a check found; an export finds none. */
export type ErrandReport = { readonly done: readonly Damage[] | WireRefusal } | { readonly checked: number; readonly total: number }
export type Errand =
  | ({ readonly errand: 'export' } & ExportSettings)
  | ({ readonly errand: 'verify'; readonly directory: string } & SealSettings)

const port = threadPort()
const settings: Errand = workerData
const report = (message: ErrandReport) => port.postMessage(message)
try {
  report({ done: run(settings) })
} catch (error) {
  report({ done: toWire(writeRefusal(error) ?? readFailed(error)) })
}

function run(errand: Errand): readonly Damage[] {
  if (errand.errand === 'verify') return verifyStore(errand.directory, errand, (checked, total) => report({ checked, total }))
  exportScenario(errand)
  return []
}
