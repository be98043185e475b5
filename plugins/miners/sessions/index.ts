/**
 * Mines recorded sessions: a person's first request is a task. What the session shows of its workspace is the workspace, and its tests, the right
 * answer or the person's own words grade it. The source is a file of `svc records --export`.
 */
import { define, invalid, type MinedTask, type MiningOrder } from '../../../src/contract/index.ts'
import { WeakOutcome } from '../../../src/sessions/index.ts'
import { judgementOf, type Judgement } from './judgement.ts'
import { readRecorded, type Recorded } from './records.ts'
import { originOf, requestOf, taskOf } from './task.ts'

export default define('miner', {
  make: (config) => {
    if (Object.keys(config).length > 0) throw invalid('bad_setting', 'the miner sessions has no settings; remove them')
    return { mine }
  },
})

async function* mine({ source, known, report, passOver, signal }: MiningOrder): AsyncGenerator<MinedTask> {
  const offered = new Set(known)
  for (const { thread, judgement } of inOrder(await readRecorded({ source, report, signal }))) {
    signal.throwIfAborted()
    const origin = originOf(thread)
    if (offered.has(origin)) continue
    offered.add(origin)
    const found = taskOf(thread, judgement)
    if (typeof found === 'object') yield found
    else passOver(origin, found)
  }
}

interface Considered {
  readonly thread: Recorded['threads'][number]
  readonly judgement: Judgement
}

/** What a person judged first, then what seems to have failed: there is most to learn there. */
function inOrder({ threads, reports }: Recorded): readonly Considered[] {
  const all = threads.filter(isOwn(threads)).map((thread): Considered => {
    const report = thread.exchanges.flatMap(({ id }) => reports.get(id) ?? []).at(-1) ?? null
    return { thread, judgement: judgementOf(thread, report) }
  })
  return all.toSorted((one, other) => {
    const ranks = rankOf(one) - rankOf(other)
    return ranks === 0 ? WeakOutcome.compare(one.judgement.seems, other.judgement.seems) : ranks
  })
}

/** Agents ask their model on the side, such as for a title: such a request holds the person's own. */
function isOwn(threads: Recorded['threads']): (thread: Considered['thread']) => boolean {
  const requests = Map.groupBy(
    threads.filter(({ session }) => session !== null),
    ({ session }) => session,
  )
  return (thread) => {
    const request = requestOf(thread)
    const others = (requests.get(thread.session) ?? []).slice(0, SIDE_REQUESTS_MAX).map(requestOf)
    return !others.some((other) => other.length < request.length && other.length >= REQUEST_CHARACTERS_MIN && request.includes(other))
  }
}
const SIDE_REQUESTS_MAX = 50
const REQUEST_CHARACTERS_MIN = 12

const rankOf = ({ judgement }: Considered): number => ['report', 'turn', 'none'].indexOf(judgement.by)
