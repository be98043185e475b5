import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import type { JsonObject } from '../../contract/index.ts'
import type { NewProposal } from '../../harness/index.ts'
import { FolderDocuments } from '../../kit/index.ts'
import { Inbox } from './inbox.ts'

let folder: string
let inbox: Inbox
beforeEach(() => {
  folder = join(temporaryFolder(), 'one')
  inbox = new Inbox(new FolderDocuments(folder), 8)
})

const proposal = (reason: string): NewProposal => ({ mutations: [{ op: 'remove', id: 'a' }], reason, session: 's', release_id: 'r' })
const filesIn = async (place: string): Promise<readonly string[]> =>
  (await readdir(join(folder, place)).catch(() => [])).filter((name) => name.endsWith('.json')).sort()
const fileOf = async (place: string, id: string): Promise<JsonObject> =>
  JSON.parse(await readFile(join(folder, place, `${id}.json`), 'utf8'))

async function offered(reason: string): Promise<string> {
  const kept = await inbox.offer(proposal(reason), 'head')
  if (kept === 'full') throw new Error('there was no place left')
  return kept.proposal_id
}

describe('an offer', () => {
  it('is kept as a file that says what was proposed, when, and against which head', async () => {
    expect(await readdir(join(folder, '..'))).toEqual([])
    const id = await offered('first')
    expect(id).toMatch(/^\d{20}-[0-9a-f]{8}$/)
    expect(await fileOf('', id)).toEqual({
      ...proposal('first'),
      proposal_id: id,
      received_at: expect.any(Number),
      head_release_id: 'head',
      attempts: 0,
    })
  })

  it('beside others never makes more wait than may', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => inbox.offer(proposal(String(index)), 'head')))
    expect(answers.filter((answer) => answer === 'full')).toHaveLength(12)
    expect(await filesIn('')).toHaveLength(8)
  })

  it('finds a place again once a step has taken one', async () => {
    const small = new Inbox(new FolderDocuments(folder), 1)
    await small.offer(proposal('first'), 'head')
    expect(await small.offer(proposal('second'), 'head')).toBe('full')
    await small.claim()
    expect(await small.offer(proposal('second'), 'head')).not.toBe('full')
  })

  it('is younger than all that wait, also when the clock was set back', async () => {
    const later = '09999999999999999999-00000000'
    await mkdir(folder)
    await writeFile(join(folder, `${later}.json`), '{}')
    expect((await offered('second')) > later).toBe(true)
  })

  it('that the disk does not take is unavailable, and leaves nothing behind', async () => {
    await mkdir(folder)
    await writeFile(join(folder, '..', 'file'), '')
    const broken = new Inbox(new FolderDocuments(join(folder, '..', 'file', 'inside')), 8)
    await expect(broken.offer(proposal('first'), 'head')).rejects.toMatchObject({ kind: 'unavailable', code: 'inbox_failed' })
    expect(await readdir(folder)).toEqual([])
  })
})

describe('a claim', () => {
  it('takes the oldest, and each one once', async () => {
    for (const reason of ['first', 'second', 'third']) await offered(reason)
    const taken = await Promise.all([inbox.claim(), inbox.claim()])
    expect(new Set(taken.map((each) => each?.reason))).toEqual(new Set(['first', 'second']))
    expect((await inbox.claim())?.reason).toBe('third')
    expect(await inbox.claim()).toBeNull()
    expect(await filesIn('claimed')).toHaveLength(3)
  })

  it('of an empty inbox is none', async () => {
    expect(await inbox.claim()).toBeNull()
    await inbox.reconcile([])
  })

  it('sets aside what cannot be read, counts it, and goes on to the next', async () => {
    const broken = await offered('first')
    const renamed = await offered('second')
    await offered('third')
    await writeFile(join(folder, `${broken}.json`), '{"mutations": [')
    await rename(join(folder, `${renamed}.json`), join(folder, '00000000000000000001-00000000.json'))
    await writeFile(join(folder, 'notes.txt'), 'mine')
    await mkdir(join(folder, '00000000000000000002-00000000.json'))
    expect((await inbox.claim())?.reason).toBe('third')
    expect(inbox.ignored).toBe(4)
    expect(await filesIn('refused')).toHaveLength(3)
    expect(await readFile(join(folder, 'notes.txt'), 'utf8')).toBe('mine')
  })
})

describe('reconciling', () => {
  it('moves what a row settled, with what the row said of it', async () => {
    const id = await offered('first')
    await inbox.claim()
    const rows = [{ id, step: 3, selected: true, reason: 'better on 4 of 5' }]
    await inbox.reconcile(rows)
    await inbox.reconcile(rows)
    expect(await fileOf('settled', id)).toMatchObject({ reason: 'first', settled: { step: 3, selected: true, reason: 'better on 4 of 5' } })
    expect([await filesIn(''), await filesIn('claimed'), await filesIn('settled')]).toEqual([[], [], [`${id}.json`]])
  })

  it('goes by the row also where the claim itself was lost with the power', async () => {
    const id = await offered('first')
    await inbox.reconcile([{ id, step: 3, selected: false, reason: 'worse' }])
    expect(await inbox.claim()).toBeNull()
    expect(await fileOf('settled', id)).toMatchObject({ settled: { selected: false } })
  })

  it('gives back what no row settled, in its old place', async () => {
    const first = await offered('first')
    await offered('second')
    await inbox.claim()
    await new Inbox(new FolderDocuments(folder), 8).reconcile([])
    expect(await inbox.claim()).toMatchObject({ proposal_id: first, attempts: 1 })
  })

  it('refuses a proposal after three steps without a row', async () => {
    const id = await offered('first')
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(await inbox.claim()).toMatchObject({ attempts: attempt })
      await inbox.reconcile([])
    }
    expect(await inbox.claim()).toBeNull()
    expect(await fileOf('refused', id)).toMatchObject({ refused: 'aborted three times', attempts: 3 })
  })

  it('does again what a crash left half done: a file in two places ends up in one', async () => {
    const id = await offered('first')
    const pending = await readFile(join(folder, `${id}.json`), 'utf8')
    await inbox.claim()
    await writeFile(join(folder, `${id}.json`), pending)
    await inbox.reconcile([])
    expect([await filesIn(''), await filesIn('claimed')]).toEqual([[`${id}.json`], []])
    expect(await inbox.claim()).toMatchObject({ attempts: 1 })
  })

  it('sets aside a claimed file that cannot be read', async () => {
    const id = await offered('first')
    await inbox.claim()
    await writeFile(join(folder, 'claimed', `${id}.json`), '')
    await inbox.reconcile([])
    expect([await filesIn('claimed'), await filesIn('refused')]).toEqual([[], [`${id}.json`]])
  })

  it('keeps the newest 200 of what was settled', async () => {
    await mkdir(join(folder, 'settled'), { recursive: true })
    const old = Array.from({ length: 200 }, (_, index) => `${String(index).padStart(20, '0')}-00000000.json`)
    for (const name of old) await writeFile(join(folder, 'settled', name), '{}')
    const id = await offered('first')
    await inbox.claim()
    await inbox.reconcile([{ id, step: 1, selected: false, reason: 'worse' }])
    expect(await filesIn('settled')).toEqual([...old.slice(1), `${id}.json`])
  })
})

describe('a refusal', () => {
  it('keeps the claimed one with its reason, and nothing brings it back', async () => {
    const id = await offered('first')
    await inbox.claim()
    await inbox.refuse(id, 'a: there is no entry a to remove')
    await inbox.reconcile([])
    expect(await inbox.claim()).toBeNull()
    expect(await fileOf('refused', id)).toMatchObject({ refused: 'a: there is no entry a to remove' })
  })

  it('stands where a crash left the proposal in its old place too', async () => {
    const id = await offered('first')
    await inbox.claim()
    const claimed = await readFile(join(folder, 'claimed', `${id}.json`), 'utf8')
    await inbox.refuse(id, 'a: there is no entry a to remove')
    await writeFile(join(folder, 'claimed', `${id}.json`), claimed)
    await inbox.reconcile([])
    expect([await filesIn(''), await filesIn('claimed')]).toEqual([[], []])
    expect(await fileOf('refused', id)).toMatchObject({ refused: 'a: there is no entry a to remove' })
  })

  it('of one that a person removed is nothing', async () => {
    await inbox.refuse('00000000000000000001-00000000', 'gone')
    expect(await filesIn('refused')).toEqual([])
  })
})
