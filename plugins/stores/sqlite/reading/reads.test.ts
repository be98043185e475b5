/** When the reader starts, and that a read has the same answer on both sides of that. */
import assert from 'node:assert/strict'
import { describe, it, onTestFinished } from 'vitest'
import { commit, record } from '../../../../conformance/store-samples.ts'
import type { ScenarioStore, Store } from '../../../../src/contract/index.ts'
import { fresh } from '../testing/stores.ts'

const MANY = 1000

describe('reads of the thread that opened the store', () => {
  it('need no thread while they are few and small', async () => {
    const threads = countThreads()
    const { store, scenario } = await fresh()
    await smallReads(store, scenario)
    assert.equal(threads.started, 1)
  })

  it('are answered alike before the reader starts and after', async () => {
    const threads = countThreads()
    const { store, scenario } = await fresh()
    await scenario.append([record('one'), record('two')])
    await scenario.commit(commit(1, ['one']))
    await scenario.configure({ training_mode: 'manual' })
    const here = await smallReads(store, scenario)
    assert.equal((await scenario.get('two'))?.sequence, 2)
    assert.equal(threads.started, 2)
    assert.deepEqual(await smallReads(store, scenario), here)
  })

  it('find what was just written, and what another scenario has not', async () => {
    const { scenario } = await fresh()
    await scenario.append([record('one')])
    assert.deepEqual([...(await scenario.types(['one', 'two'])).keys()], ['one'])
  })

  it('go to the reader once they are many', async () => {
    const threads = countThreads()
    const { scenario } = await fresh()
    let reads = 0
    while (threads.started === 1 && reads < MANY) {
      await scenario.head()
      reads += 1
    }
    assert.equal(threads.started, 2)
    assert.ok(reads > 1, 'the first read started it')
  })

  it('are refused once the store is closed', async () => {
    const { store, scenario } = await fresh()
    await scenario.head()
    await store.close()
    await assert.rejects(scenario.head(), { code: 'store_closed' })
  })
})

/** Every thread that this process starts from here on. */
function countThreads(): { readonly started: number } {
  const seen = { started: 0 }
  const count = (): void => void (seen.started += 1)
  process.on('worker', count)
  onTestFinished(() => void process.off('worker', count))
  return seen
}

async function smallReads(store: Store, scenario: ScenarioStore): Promise<readonly unknown[]> {
  return [
    await store.scenarios(),
    await store.usage(),
    await scenario.types(['one', 'none']),
    await scenario.commits({ after: 0, limit: 10 }),
    await scenario.head(),
    await scenario.chain({ after: 0, limit: 10 }),
    await scenario.release('none'),
    await scenario.losses(),
    await scenario.settings(),
  ]
}
