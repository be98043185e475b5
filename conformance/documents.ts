/** Conformance suite for documents, wherever they are kept. */
import assert from 'node:assert/strict'
import type { Documents, ListedDocument } from '../src/contract/index.ts'
import { withFolder, type Runner } from './support.ts'

type DocumentTest = (name: string, body: (documents: Documents) => Promise<void>) => void

/** `open` gives the documents of an empty folder. */
export function documentsConformance({ describe, it, open }: Runner & { readonly open: (folder: string) => Documents }): void {
  const test: DocumentTest = (name, body) => it(name, () => withFolder((folder) => body(open(folder))))
  describe('documents', () => describeEach(test))
}

export function describeEach(test: DocumentTest): void {
  test('one is read as it was written, whole or from a byte on, and is none before', async (documents) => {
    assert.equal(await textOf(documents, 'a.json'), null)
    assert.equal(await documents.write('a.json', 'größe\u0000'), true)
    assert.equal(await textOf(documents, 'a.json'), 'größe\u0000')
    assert.equal(await textOf(documents, 'a.json', 6), 'e\u0000')
    assert.equal(await textOf(documents, 'a.json', 99), '')
    await documents.write('a.json', '')
    assert.equal(await textOf(documents, 'a.json'), '')
  })
  test('one is replaced only where it is as given, or where there is none', async (documents) => {
    assert.equal(await documents.write('a', '1', '0'), false)
    assert.equal(await documents.write('a', '1', null), true)
    assert.equal(await documents.write('a', '1', null), false)
    assert.equal(await documents.write('a', '2', '0'), false)
    assert.equal(await documents.write('a', '2', '1'), true)
    assert.equal(await textOf(documents, 'a'), '2')
  })
  test('of many that make or replace one at once, one does', async (documents) => {
    const tries = Array.from({ length: 8 }, (_, at) => `try ${at}`)
    assert.equal((await Promise.all(tries.map((text) => documents.write('x', text, null)))).filter(Boolean).length, 1)
    const made = (await textOf(documents, 'x')) ?? ''
    assert.equal((await Promise.all(tries.map((text) => documents.write('x', text.toUpperCase(), made)))).filter(Boolean).length, 1)
  })
  test('what is added stands at the end, nothing is lost, and it is read from where the last reading ended', async (documents) => {
    await Promise.all(Array.from({ length: 20 }, (_, at) => documents.append('lines', `${at}\n`)))
    const text = (await textOf(documents, 'lines')) ?? ''
    assert.equal(text.split('\n').length, 21)
    await documents.append('lines', 'more\n')
    assert.equal(await textOf(documents, 'lines', text.length), 'more\n')
    await documents.write('lines', 'new\n')
    await documents.append('lines', 'end\n')
    assert.equal(await textOf(documents, 'lines'), 'new\nend\n')
  })
  test('one that moves takes the place of another; of many that move it, one does', async (documents) => {
    await documents.write('a', '1')
    await documents.append('a', '2')
    await documents.write('in/b', 'old')
    const moved = await Promise.all([documents.move('a', 'in/b'), documents.move('a', 'in/b'), documents.move('none', 'in/b')])
    assert.equal(moved.filter(Boolean).length, 1)
    assert.equal(await textOf(documents, 'a'), null)
    assert.equal(await textOf(documents, 'in/b'), '12')
  })
  test('a folder lists what is directly in it, by name, and is removed with all that is in it', async (documents) => {
    assert.deepEqual(await documents.list(''), [])
    for (const path of ['b', 'a/1', 'a/c/2', 'a-b', 'a0', 'Z']) await documents.write(path, 'four')
    assert.deepEqual(await documents.list(''), [file('Z'), { name: 'a', isFolder: true, bytes: 8 }, file('a-b'), file('a0'), file('b')])
    assert.deepEqual(await documents.list('a'), [file('1'), { name: 'c', isFolder: true, bytes: 4 }])
    assert.deepEqual(await documents.list('none'), [])
    await documents.remove('a')
    await documents.remove('b')
    await documents.remove('b')
    assert.deepEqual(
      (await documents.list('')).map(({ name }) => name),
      ['Z', 'a-b', 'a0'],
    )
  })
}

const file = (name: string): ListedDocument => ({ name, isFolder: false, bytes: 4 })

async function textOf(documents: Documents, path: string, from?: number): Promise<string | null> {
  const bytes = await documents.read(path, from)
  return bytes === null ? null : Buffer.from(bytes).toString()
}
