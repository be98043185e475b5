/** Several threads on one store: what one writes all see, one that dies harms no other, and closing waits for all. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, it, onTestFinished } from 'vitest'
import type { Store, StoreChange } from '../../../../src/contract/index.ts'
import { commit, counted, create, record, sequences } from '../../../../conformance/store-samples.ts'
import { holdLock } from '../../../../test/support/lock.ts'
import { until } from '../../../../test/support/wait.ts'
import { fileIn, fresh, open } from '../testing/stores.ts'

describe('threads that share a store', () => {
  it('append at once without a gap or a doubled number, and read what the others wrote', async () => {
    const { store, scenario } = await fresh()
    const threads = await Promise.all([join(store), join(store), join(store)])
    const answers = await Promise.all([
      ...threads.flatMap((thread, at) => counted(40).map((index) => thread.ask('append', `t${at}-${index}`))),
      ...counted(40).map((index) => scenario.append([record(`m${index}`)]).then((appended) => sequences(appended)[0])),
    ])
    assert.deepEqual(answers.map(Number).sort(ascending), counted(160))
    assert.equal(await threads[0]?.ask('get', 't2-7'), (await scenario.get('t2-7'))?.sequence)
    assert.deepEqual(await store.verify(() => undefined), [])
  })

  it('hear of every change, whoever made it, each scenario in order', async () => {
    const { store, scenario } = await fresh()
    const [one, two] = [await join(store), await join(store)]
    const told: StoreChange[] = []
    store.follow((change) => void told.push(change))
    await one.ask('append', 'x')
    await scenario.commit(commit(1, ['x']))
    await scenario.configure({ training_mode: 'manual' })
    await two.ask('archive', 'a')
    await create(store, 'a')
    const kinds = ['appended', 'landed', 'settings', 'archived', 'created']
    for (const changes of [told, one.changes, two.changes]) {
      await until(() => changes.length >= kinds.length)
      assert.deepEqual(
        changes.map(({ kind }) => kind),
        kinds,
      )
    }
  })

  it('are told of their own records before the answer, and of those of others no more often', async () => {
    const { store } = await fresh()
    const [one, two] = [await join(store), await join(store)]
    for (const index of counted(50)) {
      await one.ask('append', `r${index}`)
      assert.equal(one.changes.length, index)
    }
    await two.ask('append', 'last')
    assert.ok(two.changes.length > 0 && two.changes.length <= 51, `${two.changes.length} of 51`)
  })

  it('have heard what others changed when they are answered', async () => {
    const { store } = await fresh()
    const [one, two] = [await join(store), await join(store)]
    for (const index of counted(10)) {
      await one.ask('append', `r${index}`)
      await two.ask('lease', `l${index}`)
      assert.equal(two.changes.length, index)
    }
  })

  it('hear of trouble with writing, also those that join meanwhile, and of its end', async () => {
    const { directory, store } = await fresh({ lockWaitMs: 50 })
    const before = await join(store)
    const release = await holdLock(fileIn(directory))
    assert.equal(await before.ask('append', 'x'), 'store_busy')
    const during = await join(store)
    for (const thread of [before, during]) {
      await until(() => thread.troubles.at(-1) === 'store_busy')
      assert.equal(await thread.ask('writing', ''), 'store_busy')
    }
    await release()
    for (const thread of [before, during]) await until(() => thread.troubles.at(-1) === null)
    assert.equal(await before.ask('append', 'x'), 1)
  })

  it('hold a lease against each other', async () => {
    const { store } = await fresh()
    const [one, two] = [await join(store), await join(store)]
    const token = Number(await one.ask('lease', 'x'))
    assert.deepEqual([await two.ask('lease', 'x'), await store.lease('x')], [null, null])
    await one.ask('close', '')
    await until(async () => Number(await two.ask('lease', 'x')) > token)
  })
})

describe('a thread that is terminated in the middle', () => {
  it('loses nothing that it was answered, doubles nothing, and the others go on', async () => {
    const { directory, store, scenario } = await fresh()
    for (const round of counted(5)) {
      const [dying, living] = [await join(store), await join(store)]
      for (const [at, thread] of [dying, living].entries()) void thread.ask('stream', `${round}-${at}`)
      await until(() => dying.stored.size > 20 && living.stored.size > 20)
      await dying.worker.terminate()
      const seen = living.stored.size
      await until(() => living.stored.size > seen + 20)
      await living.worker.terminate()
      for (const [id, sequence] of [...dying.stored, ...living.stored]) assert.equal((await scenario.get(id))?.sequence, sequence)
    }
    const { rows, step } = await scenario.append([record('last')])
    const all = await scenario.records({ after: 0, limit: 100_000 })
    assert.deepEqual(sequences(all), counted(all.length))
    assert.equal(new Set(all.map((row) => row.agent_record_id)).size, all.length)
    assert.deepEqual([sequences(rows), step], [[all.length], 0])
    await store.close()
    assert.deepEqual(await (await open(directory)).verify(() => undefined), [])
  })

  it('lets its leases go', async () => {
    const { store } = await fresh()
    const dying = await join(store)
    const token = Number(await dying.ask('lease', 'x'))
    assert.equal(await store.lease('x'), null)
    await dying.worker.terminate()
    let taken: Awaited<ReturnType<Store['lease']>> = null
    await until(async () => (taken = await store.lease('x')) !== null)
    assert.ok(Number(taken?.['token']) > token)
  })

  it('gives a scenario back that it was archiving', async () => {
    const { store, scenario } = await fresh()
    await scenario.append(counted(5000).map((index) => record(`r${index}`)))
    const dying = await join(store)
    void dying.ask('archive', 'a')
    await until(async () => (await scenario.append([record('x')]).catch(() => null)) === null)
    await dying.worker.terminate()
    await until(async () => (await store.scenarios()).length === 0 || (await scenario.append([record('x')]).catch(() => null)) !== null)
    assert.deepEqual(await store.verify(() => undefined), [])
  })
})

describe('closing', () => {
  it('finishes what every thread was asked, and refuses what comes later', async () => {
    const { directory, store } = await fresh()
    const threads = [await join(store), await join(store)]
    const answers = threads.flatMap((thread, at) => counted(50).map((index) => thread.ask('append', `t${at}-${index}`)))
    await until(() => threads.every(({ changes }) => changes.length > 0))
    await store.close()
    const stored = (await Promise.all(answers)).filter((answer) => typeof answer === 'number')
    for (const thread of threads) assert.equal(await thread.ask('append', 'later'), 'store_closed')
    assert.equal((await (await open(directory)).usage()).records, stored.length)
  })

  it('of one thread leaves the store open for the others', async () => {
    const { store, scenario } = await fresh()
    const [one, two] = [await join(store), await join(store)]
    await one.ask('close', '')
    assert.equal(await one.ask('append', 'x'), 'store_closed')
    assert.deepEqual([await two.ask('append', 'x'), sequences(await scenario.append([record('y')]))], [1, [2]])
  })

  it('is not held up by a port that no thread ever used', async () => {
    const { store } = await fresh()
    store.share?.().close()
    await store.close()
    assert.throws(() => store.share?.(), { code: 'store_closed' })
  })
})

type Answer = number | string | null

/** A thread that joined the store, as the test drives it. */
class Joined {
  readonly worker: Worker
  readonly changes: StoreChange[] = []
  readonly troubles: (string | null)[] = []
  readonly stored = new Map<string, number>()
  readonly #waiting = new Map<string, (answer: Answer) => void>()

  constructor(worker: Worker) {
    this.worker = worker
    worker.on('message', (message) => {
      if ('change' in message) this.changes.push(message.change)
      else if ('trouble' in message) this.troubles.push(message.trouble)
      else if ('stored' in message) this.stored.set(message.stored, message.sequence)
      else this.#waiting.get(`${message.verb} ${message.id}`)?.(message.refused ?? message.answer)
    })
  }

  /** The answer, or the code of the refusal. */
  ask(verb: string, id: string): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    this.#waiting.set(`${verb} ${id}`, resolve)
    this.worker.postMessage({ verb, id }, [])
    return promise
  }
}

async function join(store: Store): Promise<Joined> {
  const port = store.share?.()
  assert.ok(port !== undefined)
  const worker = new Worker(new URL('../testing/joined.fixture.mjs', import.meta.url), { workerData: { port }, transferList: [port] })
  onTestFinished(async () => void (await worker.terminate()))
  await once(worker, 'message')
  return new Joined(worker)
}

const ascending = (x: number, y: number): number => x - y
