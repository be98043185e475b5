/** Answers groups of calls in one transaction and one sync, each call as if it were alone. */
import type { DatabaseSync } from 'node:sqlite'
import type { MessagePort } from 'node:worker_threads'
import { Refusal, type StoreChange } from '../../../../src/contract/index.ts'
import type { StoreSeal } from '../../common/seal.ts'
import { makeAppend } from './append.ts'
import type { RecordArchive } from './archive.ts'
import type { Changes } from './changes.ts'
import { makeCommit, makeKeepTotals } from './commit.ts'
import { makeConfigure } from './configure.ts'
import { makeDeployment } from '../deployment.ts'
import { makeEmpty } from './empty.ts'
import { makeExpire } from './expire.ts'
import type { StoreLeases } from './leases.ts'
import type { StoreLedger } from './ledger.ts'
import { storageFailed } from '../refusals.ts'
import type { Transact } from './transaction.ts'
import { toWire, type WireCall, type WireGroup, type WireRefusal, type WriterAnswers } from '../messages/wire.ts'

/** A group and the port it came from, to which its answers go. */
export interface ReceivedGroup extends WireGroup {
  readonly from: MessagePort
}

type Answer = WriterAnswers[keyof WriterAnswers] | WireRefusal

export interface Answered {
  /** For each group one list, with an answer per call. */
  readonly answers: readonly (readonly Answer[])[]
  readonly changes: readonly StoreChange[]
}

interface AnswerNeeds {
  readonly db: DatabaseSync
  readonly ledger: StoreLedger
  readonly transact: Transact
  readonly archive: RecordArchive
  readonly leases: StoreLeases
  readonly changes: Changes
  readonly seal: StoreSeal
}

export function makeAnswerGroups(needs: AnswerNeeds): (groups: readonly ReceivedGroup[]) => Answered {
  const { db, ledger, transact, archive, leases, changes, seal } = needs
  const append = makeAppend(needs)
  const commit = makeCommit(needs)
  const keepTotals = makeKeepTotals(db, ledger)
  const configure = makeConfigure(db, ledger, changes)
  const expire = makeExpire(db, ledger, seal)
  const empty = makeEmpty(db, ledger, seal)
  const deployment = makeDeployment(db, changes)
  return answerGroups

  function answerGroups(groups: readonly ReceivedGroup[]): Answered {
    try {
      return transact(() => {
        // What a failed try left.
        changes.take()
        const answers = groups.map((group) => group.calls.map((call) => answer(call, group)))
        return { answers, changes: changes.take() }
      })
    } catch (error) {
      if (error instanceof Refusal) return unchanged(groups.map(({ calls }) => calls.map((call) => refused(call, error))))
      if (groups.length === 1 && groups[0]?.calls.length === 1) return unchanged([[toWire(storageFailed(error))]])
      return eachAlone(groups)
    }
  }

  /** An unexpected failure must not spoil the call's neighbours: each gets a transaction of its own. */
  function eachAlone(groups: readonly ReceivedGroup[]): Answered {
    const made: StoreChange[] = []
    const answers = groups.map((group) =>
      group.calls.flatMap((call) => {
        const alone = answerGroups([{ ...group, calls: [call] }])
        made.push(...alone.changes)
        return alone.answers.flat()
      }),
    )
    return { answers, changes: made }
  }

  function answer(call: WireCall, group: ReceivedGroup): Answer {
    try {
      return perform(call, group)
    } catch (error) {
      if (error instanceof Refusal) return toWire(error)
      throw error
    }
  }

  /** A lease is let go whatever the disk does. */
  function refused(call: WireCall, refusal: Refusal): Answer {
    return 'op' in call && call.op === 'release' ? leases.release(call) : toWire(refusal)
  }

  function perform(call: WireCall, { bytes, from }: ReceivedGroup): Answer {
    if (!('op' in call)) return append(call, bytes)
    switch (call.op) {
      case 'commit':
        return commit(call.scenario, call.commit, call.fence)
      case 'totals':
        return keepTotals(call.scenario, call.totals)
      case 'configure':
        return configure(call.scenario, call.changes)
      case 'expire':
        return expire(call.scenario, call.sequences)
      case 'empty':
        return empty(call.scenario, call.sequences)
      case 'lease':
        return leases.take(call.name, from)
      case 'release':
        return leases.release(call)
      case 'token':
        return deployment.changeToken(call.change, call.entry)
      case 'note':
        return deployment.addAudit(call.entry)
      case 'archive_begin':
        return archive.begin(call.scenario, call.archive, from)
      case 'archive_finish':
        return archive.finish(call.key)
      default:
        return archive.abandon(call.key)
    }
  }
}

const unchanged = (answers: Answered['answers']): Answered => ({ answers, changes: [] })
