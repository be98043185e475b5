/** Watches the store: logs how writing stands and what was evicted, and removes bodies for their age where the configuration says so. */
import { join } from 'node:path'
import type { LoadedConfig } from '../config/index.ts'
import type { Refusal, Store } from '../contract/index.ts'
import type { Log } from '../http/index.ts'
import { wordsOf } from '../kit/index.ts'
import { Retention } from '../recording/index.ts'
import { clock } from './traffic.ts'

export async function watchStore({ config }: LoadedConfig, store: Store, log: Log): Promise<Retention> {
  store.onLoss((scenario, lost) => log.write('warn', 'records_evicted', { scenario, records: lost.records, bytes: lost.bytes }))
  store.writing?.onChange((trouble) => logWriting(log, trouble))
  const { recording, storage } = config
  return Retention.open({
    store,
    days: recording.retention_days,
    scenarioDays: new Map(
      Object.entries(recording.scenarios).map(([name, rule]) => [name, rule.retention_days ?? recording.retention_days]),
    ),
    path: storage.record_backend === 'memory' ? null : join(storage.agent_record_dir, 'retention.json'),
    clock,
    log: (level, event, fields) => log.write(level, event, fields),
  })
}

function logWriting(log: Log, trouble: Refusal | null): void {
  if (trouble === null) return log.write('info', 'store_writable', {})
  log.write('error', 'store_unwritable', { code: trouble.code, message: trouble.message, ...causeOf(trouble) })
}

const causeOf = ({ detail: { cause } }: Refusal): { readonly cause?: string } => (cause === undefined ? {} : { cause: wordsOf(cause) })
