/**
 * Removes the records that have a tag while the service uses the store. A thread of its own looks for them, the writer empties a few with each
 * call, so that no request waits long, and the thread looks again. Freed room is overwritten by the writer, so the file need not be written anew.
 */
import type { ForgetOrder, Forgotten, ForgottenRecord, SearchedPlace } from '../../../../src/contract/index.ts'
import type { SealSettings } from '../../common/seal.ts'
import type { Channel } from '../messages/channel.ts'
import { added } from './forget.ts'
import { runErrand } from '../run-errand.ts'
import type { WriterAnswers, WriterCall } from '../messages/wire.ts'

/** Records that come in meanwhile are looked for again, so often at most. */
const ROUNDS_MAX = 5
const RECORDS_PER_TURN = 64

interface OpenStore {
  readonly settings: SealSettings & { readonly directory: string }
  readonly writer: Pick<Channel<WriterCall, WriterAnswers>, 'ask'>
  /** Makes the index of the search anew, and answers what is left of the old one. */
  readonly remakeIndex: () => Promise<readonly SearchedPlace[]>
  readonly signal: AbortSignal
}

export async function forgetWhileOpen(order: ForgetOrder, { settings, writer, remakeIndex, signal }: OpenStore): Promise<Forgotten> {
  const { directory, secretKey, encrypts } = settings
  const errand = { directory, secretKey, encrypts, order }
  const find = () => runErrand({ errand: 'find_tagged', ...errand }, signal)
  const { withBodies, ...found } = await find()
  const archived = await runErrand({ errand: 'forget_archived', ...errand }, signal)
  if (order.isTrial) return { ...added([found, archived]), places: [] }
  let rewritten = await emptyAll(found.ids)
  const gone = [found]
  for (let [round, left] = [1, withBodies.length]; left > 0 && round < ROUNDS_MAX; round += 1) {
    const { withBodies: more, ...again } = await find()
    left = more.length
    if (left > 0) gone.push(again)
    rewritten += await emptyAll(more)
  }
  const index = await remakeIndex()
  const places = await runErrand({ errand: 'prove_forgotten', ...errand }, signal)
  return { ...added([...gone, archived]), rewritten: rewritten + archived.rewritten, places: [...places, ...index] }

  /** Answers how many bodies of others were written anew. */
  async function emptyAll(ids: readonly ForgottenRecord[]): Promise<number> {
    let count = 0
    for (const [scenario, records] of Map.groupBy(ids, (each) => each.scenario)) {
      let sequences = records.map(({ sequence }) => sequence).toSorted((a, b) => b - a)
      while (sequences.length > 0) {
        const turn = sequences.slice(0, RECORDS_PER_TURN)
        const done = await writer.ask({ op: 'empty', scenario, sequences: turn })
        count += done.rewritten
        sequences = sequences.slice(done.emptied)
      }
    }
    return count
  }
}
