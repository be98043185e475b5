/**
 * A process that lands steps of the scenario `a` for as long as it holds the lease, and says what it does in lines. It stops itself where
 * the file ORDER says: `sealed` is before the commit is sent, `sent` is right after. Run: node holder.fixture.ts URL SCHEMA NAME ORDER
 */
import { existsSync, rmSync } from 'node:fs'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { isRefusal, type Commit, type StoreLease } from '../../../../src/contract/index.ts'
import { commit } from '../../../../conformance/store-samples.ts'
import { wordsOf } from '../../../../src/kit/index.ts'
import postgres from '../index.ts'

const [url = '', schema = '', name = '', order = ''] = process.argv.slice(2)
const ASK_AGAIN_MS = 20
/** What a holder that was overtaken is refused with. */
const OVERTAKEN = new Set(['lease_lost', 'step_conflict'])

const store = await postgres.plugin.make({ url, schema, connections: 2 })
const a = store.scenario('a')
process.once('SIGTERM', () => void store.close().then(() => process.exit(0)))
say('ready')
for (;;) {
  const lease = await store.lease('training:a').catch(() => null)
  if (lease === null) await sleep(ASK_AGAIN_MS)
  else await land(lease)
}

/** Until it is refused. A pause may be so short that its own clock does not notice: then the fence alone refuses. */
async function land(lease: StoreLease): Promise<void> {
  say(`holds ${lease.token}`)
  for (;;) {
    const step = await nextStep()
    if (step === null) continue
    const row: Commit = { ...commit(step), metrics: { token: lease.token }, state: { by: name } }
    stopAt('sealed')
    const landing = a.commit(row, lease).then(
      () => null,
      (error: unknown) => error,
    )
    await nextTurn()
    stopAt('sent')
    const error = await landing
    if (error === null) say(`landed ${step} ${lease.token}`)
    else if (isRefusal(error) && OVERTAKEN.has(error.code)) return say(`refused ${step} ${lease.token} ${error.code}`)
    // The server ended its transaction while it was stopped: whether the row landed is for the next look at the head.
    else if (isRefusal(error) && error.code === 'store_unreachable') say(`unheard ${step}`)
    else say(`failed ${step} ${lease.token} ${wordsOf(error)}`)
  }
}

/** Null while a busy machine keeps the server from answering. */
async function nextStep(): Promise<number | null> {
  try {
    return ((await a.head())?.newest.step ?? 0) + 1
  } catch (error) {
    if (!isRefusal(error) || error.code !== 'store_unreachable') throw error
    say('unheard')
    return null
  }
}

function stopAt(point: string): void {
  const file = `${order}.${point}`
  if (!existsSync(file)) return
  rmSync(file)
  say(`stops ${point}`)
  process.kill(process.pid, 'SIGSTOP')
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
