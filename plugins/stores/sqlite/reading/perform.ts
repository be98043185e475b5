/** Makes one read of the store. */
import type { StoredRecord } from '../../../../src/contract/index.ts'
import type { Queries } from './queries.ts'
import type { ReaderCall } from '../messages/wire.ts'

/** Each buffer that changes hands is compared with all the others, so the small ones of a page are cheaper to copy. */
const TRANSFER_BYTES_MIN = 16 * 1024

/** What may change hands with the answer is added to `transfer`. */
export function perform(read: Queries, call: ReaderCall, transfer: ArrayBuffer[]): unknown {
  switch (call.op) {
    case 'scenarios':
      return read.scenarios()
    case 'usage':
      return read.usage()
    case 'types':
      return read.types(call.scenario, call.ids)
    case 'records':
      return read.records(call.scenario, call)
    case 'commits':
      return read.commits(call.scenario, call)
    case 'head':
      return read.head(call.scenario)
    case 'chain':
      return read.chain(call.scenario, call)
    case 'release':
      return read.release(call.scenario, call.id)
    case 'losses':
      return read.losses(call.scenario)
    case 'had_earlier':
      return read.hadEarlier(call.scenario)
    case 'expired':
      return read.expired(call.scenario, call)
    case 'settings':
      return read.settings(call.scenario)
    case 'tokens':
      return read.tokens()
    case 'audit':
      return read.audit(call)
    case 'pending': {
      const found = read.pending(call.scenario, call)
      for (const record of found) for (const each of [record, ...record.quoted]) handOver(each, transfer)
      return found
    }
    default: {
      const record = read.get(call.scenario, call.id)
      if (record !== null) handOver(record, transfer)
      return record
    }
  }
}

/** Large bodies change hands instead of being copied. */
function handOver({ payload }: StoredRecord, transfer: ArrayBuffer[]): void {
  if (payload === null || payload.byteLength < TRANSFER_BYTES_MIN) return
  if (payload.buffer instanceof ArrayBuffer) transfer.push(payload.buffer)
}
