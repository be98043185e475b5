/** Answers a group of calls in one transaction and one sync, each call as if it were alone. */
import type { DatabaseSync } from 'node:sqlite'
import { Refusal } from '../../../src/contract/index.ts'
import { makeAppend } from './append.ts'
import type { RecordArchive } from './archive.ts'
import { makeCommit } from './commit.ts'
import type { StoreLedger } from './ledger.ts'
import { storageFailed } from './refusals.ts'
import type { Transact } from './transaction.ts'
import { toWire, type WireCall, type WireGroup, type WireRefusal, type WriterAnswers } from './wire.ts'

type Answer = WriterAnswers[keyof WriterAnswers] | WireRefusal

export function makeAnswerGroup(
  db: DatabaseSync,
  ledger: StoreLedger,
  transact: Transact,
  archive: RecordArchive,
): (group: WireGroup) => readonly Answer[] {
  const append = makeAppend(db, ledger)
  const commit = makeCommit(db, ledger)
  return answerGroup

  function answerGroup({ calls, bytes }: WireGroup): readonly Answer[] {
    try {
      return transact(() => calls.map((call) => answer(call, bytes)))
    } catch (error) {
      if (error instanceof Refusal) return calls.map(() => toWire(error))
      if (calls.length === 1) return [toWire(storageFailed(error))]
      // A failure nobody foresaw must not spoil the call's neighbours: each gets a transaction of its own.
      return calls.flatMap((call) => answerGroup({ calls: [call], bytes }))
    }
  }

  function answer(call: WireCall, bytes: ArrayBuffer): Answer {
    try {
      return perform(call, bytes)
    } catch (error) {
      if (error instanceof Refusal) return toWire(error)
      throw error
    }
  }

  function perform(call: WireCall, bytes: ArrayBuffer): Answer {
    if (!('op' in call)) return append(call, bytes)
    switch (call.op) {
      case 'commit':
        return commit(call.scenario, call.commit)
      case 'archive_begin':
        return archive.begin(call.scenario, call.archive)
      case 'archive_finish':
        return archive.finish(call.key)
      default:
        return archive.abandon(call.key)
    }
  }
}
