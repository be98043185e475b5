/** Step records that all gateways share. */
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { FolderDocuments } from '../../kit/index.ts'
import { openStepRecord } from './record.ts'
import { openSharedArchive } from './shared.ts'

let documents: FolderDocuments
beforeEach(() => {
  documents = new FolderDocuments(temporaryFolder())
})

async function recorded(step: number, bytesMax = 10_000_000, text = 'x') {
  const record = await openStepRecord('not used', 'f1', step, documents)
  await record?.write('proposal.json', { text })
  await record?.episode('candidate-0', { score: 1 }, [{ turn: 1 }])
  return record?.close(bytesMax)
}

describe('a shared step record', () => {
  it('is listed and read by a gateway that did not write it', async () => {
    expect(await recorded(3)).toEqual({ step_record: 'f1/3' })
    const archive = openSharedArchive(documents)
    expect((await archive.list('f1/3'))?.map(({ path }) => path)).toEqual([
      'episodes/candidate-0/episode.json',
      'episodes/candidate-0/trajectory.jsonl',
      'proposal.json',
    ])
    expect(JSON.parse((await archive.read('f1/3', 'proposal.json')) ?? '')).toEqual({ text: 'x' })
    expect(await archive.list('f1/4')).toBeNull()
    expect(await archive.read('f1/3', 'other.json')).toBeNull()
    for (const path of ['../3/proposal.json', 'a//b.json', ''])
      await expect(archive.read('f1/3', path)).rejects.toMatchObject({ code: 'bad_path' })
  })

  it('of a step that is tried again, or of another trainer at the same step, is one of its own', async () => {
    const records = await Promise.all([recorded(3), recorded(3), recorded(3)])
    expect(new Set(records.map((each) => each?.['step_record']))).toEqual(new Set(['f1/3', 'f1/3-2', 'f1/3-3']))
  })

  it('goes once newer ones need its room', async () => {
    for (const step of [1, 2, 3]) await recorded(step, 3000, 'x'.repeat(1000))
    const archive = openSharedArchive(documents)
    expect([await archive.list('f1/1'), await archive.list('f1/2')].map((files) => files === null)).toEqual([true, false])
  })

  it('that the database does not take is named in the row, and the step goes on', async () => {
    documents.write = () => Promise.reject(new Error('the database is away'))
    const record = await openStepRecord('not used', 'f1', 1, documents)
    await record?.write('proposal.json', {})
    expect(await record?.close(1)).toEqual({ step_record_error: 'the database is away' })
  })
})
