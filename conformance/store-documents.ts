/** Store conformance for documents that all processes see. */
import assert from 'node:assert/strict'
import { DOCUMENT_BYTES_MAX, type Documents, type Fence, type Store } from '../src/contract/index.ts'
import { describeEach } from './documents.ts'
import { overEmpty, type StoreSuite } from './store-samples.ts'
import { assertRefused } from './support.ts'

export function describeDocuments(suite: StoreSuite): void {
  const test = overEmpty(suite)
  const hasDocuments = suite.hasDocuments === true
  test(hasDocuments ? 'there are some' : 'a store without them says so by their absence', async ({ documents }) => {
    assert.equal(documents !== undefined, hasDocuments)
  })
  if (!hasDocuments) return
  describeEach((name, body) => test(name, (store) => body(documentsOf(store, 'owner'))))
  test('each owner has its own', async (store) => {
    await documentsOf(store, 'a').write('x', '1')
    await documentsOf(store, 'b').write('x', '2')
    await documentsOf(store, 'a').remove('x')
    assert.equal(Buffer.from((await documentsOf(store, 'b').read('x')) ?? []).toString(), '2')
    assert.deepEqual(await documentsOf(store, 'a').list(''), [])
  })
  test('a change under a lease that another one took is refused, and leaves nothing', async (store) => {
    const [first, second] = [await taken(store), await taken(store)]
    const [old, now] = [documentsOf(store, 'a', first), documentsOf(store, 'a', second)]
    await now.write('x', 'now')
    const late = [() => old.write('x', 'late'), () => old.append('x', 'late'), () => old.move('x', 'y'), () => old.remove('x')]
    for (const change of late) await assertRefused('conflict', 'lease_lost', change())
    assert.equal(Buffer.from((await old.read('x')) ?? []).toString(), 'now')
    assert.deepEqual(await now.list(''), [{ name: 'x', isFolder: false, bytes: 3 }])
  })
  test('one that is too large is refused, also where it grows to it', async (store) => {
    const documents = documentsOf(store, 'a')
    await documents.write('x', 'a'.repeat(DOCUMENT_BYTES_MAX))
    await assertRefused('invalid', 'document_too_large', documents.append('x', 'a'))
    await assertRefused('invalid', 'document_too_large', documents.write('y', 'a'.repeat(DOCUMENT_BYTES_MAX + 1)))
  })
  test('they survive closing and opening again', async (store, reopen) => {
    await documentsOf(store, 'a').write('x', '1')
    assert.deepEqual(await documentsOf(await reopen(), 'a').list(''), [{ name: 'x', isFolder: false, bytes: 1 }])
  })
}

function documentsOf({ documents }: Store, owner: string, fence?: Fence): Documents {
  assert.ok(documents !== undefined, 'the store has no documents')
  return documents(owner, fence)
}

async function taken(store: Store): Promise<Fence> {
  const lease = await store.lease('x')
  assert.ok(lease !== null)
  await lease.release()
  return { name: lease.name, token: lease.token }
}
