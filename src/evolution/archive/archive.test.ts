import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import type { Json } from '../../contract/index.ts'
import { knowSecrets } from '../../kit/index.ts'
import { openArchive, openStepRecord, type StepRecord } from './record.ts'

const MIB = 1024 * 1024
const TOKEN = 'evaluation-token-of-this-scenario'
const KEY = `sk-${'a1'.repeat(10)}`

let directory: string
beforeEach(() => {
  directory = temporaryFolder()
  knowSecrets([TOKEN])
})

async function opened(step: number): Promise<StepRecord> {
  const record = await openStepRecord(directory, 'one', step)
  if (record === null) throw new Error('recording is on')
  return record
}
const stored = (path: string): Promise<string> => readFile(join(directory, 'one', path), 'utf8')

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(directory, path)), { recursive: true })
  await writeFile(join(directory, path), text)
}

describe('a step record', () => {
  it('is a folder of its own, also when the step is tried again', async () => {
    const names = []
    for (let attempt = 0; attempt < 3; attempt += 1) names.push((await opened(7)).name)
    expect(names).toEqual(['one/7', 'one/7-2', 'one/7-3'])
  })

  it('takes an episode of any name, and the same one again beside the first', async () => {
    const record = await opened(1)
    for (const name of ['trial-a', 'trial-a', 'trial-../../a b', 'trial-a-2', `trial-${'x'.repeat(300)}`])
      await record.episode(name, {}, [])
    const folders = await readdir(join(directory, 'one/1/episodes'))
    expect(folders.sort()).toEqual(['trial-.._.._a_b', 'trial-a', 'trial-a-2', 'trial-a-2-2', `trial-${'x'.repeat(94)}`])
    expect(await record.close(MIB)).toEqual({ step_record: 'one/1' })
  })

  it('is none where recording is off', async () => {
    expect(await openStepRecord(null, 'one', 1)).toBeNull()
  })

  it('keeps values, lines and episodes as files', async () => {
    const record = await opened(1)
    await record.write('mutations.json', [{ op: 'remove', id: 'a' }])
    await record.lines('agent-session.jsonl', [{ a: 1 }, 'two'])
    await record.episode('candidate-0', { score: 1 }, [{ role: 'user' }, { role: 'assistant' }])
    expect(JSON.parse(await stored('1/mutations.json'))).toEqual([{ op: 'remove', id: 'a' }])
    expect(await stored('1/agent-session.jsonl')).toBe('{"a":1}\n"two"\n')
    expect(JSON.parse(await stored('1/episodes/candidate-0/episode.json'))).toEqual({ score: 1 })
    expect(await stored('1/episodes/candidate-0/trajectory.jsonl')).toBe('{"role":"user"}\n{"role":"assistant"}\n')
    expect(await record.close(MIB)).toEqual({ step_record: 'one/1' })
  })

  it.each<[string, Json, Json]>([
    ['a key inside a sentence', `use ${KEY}-more, then go`, 'use [redacted], then go'],
    ['a key in the name of a field', { [KEY]: 1 }, { '[redacted]': 1 }],
    ['the token of the evaluation routes', [`Bearer ${TOKEN}.`], ['Bearer [redacted].']],
    ['a private key', 'a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b', 'a [redacted] b'],
    ['a private key that was cut off', 'a -----BEGIN PRIVATE KEY-----\nMIIE', 'a [redacted]'],
    ['a key in disguise', `see s\u200bk-${'a1'.repeat(10)} there`, 'see [redacted] there'],
    ['a key that is spread over words', `see sk-\ufeff${'a1'.repeat(10)} there`, '[redacted]'],
    ['nothing but words', { plain: ['sk-short', null, 1.5, true] }, { plain: ['sk-short', null, 1.5, true] }],
  ])('holds no credential: %s', async (_, value, kept) => {
    await (await opened(1)).write('value.json', value)
    expect(JSON.parse(await stored('1/value.json'))).toEqual(kept)
  })

  it('cuts a long text and says how much is gone, and never keeps the half of a key at the cut', async () => {
    const record = await opened(1)
    await record.write('long.json', ['é'.repeat(20_000), '😀'.repeat(20_007), `${'x '.repeat(9_995)}${KEY}`])
    const [whole, cut, clean]: string[] = JSON.parse(await stored('1/long.json'))
    expect(whole).toHaveLength(20_000)
    expect(cut).toBe(`${'😀'.repeat(20_000)} [7 characters dropped]`)
    expect(clean).toMatch(/x \[redacted\]$/)
  })

  it('survives what is nested without end', async () => {
    const deep: Json = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`)
    await (await opened(1)).write('deep.json', deep)
    expect(await stored('1/deep.json')).toContain('nested more than 256 levels deep')
  })

  it('is never written over: what is there twice ends the recording, and the row says so', async () => {
    const record = await opened(1)
    await record.write('a.json', 1)
    await record.write('a.json', 2)
    await record.write('b.json', 3)
    expect(await stored('1/a.json')).toBe('1\n')
    expect(existsSync(join(directory, 'one/1/b.json'))).toBe(false)
    expect(await record.close(MIB)).toEqual({ step_record: 'one/1', step_record_error: expect.stringMatching(/^EEXIST/) })
  })

  it('that cannot be begun fails no step: the row says why there is none', async () => {
    await writeFile(join(directory, 'one'), 'in the way')
    const record = await opened(1)
    await record.write('a.json', 1)
    await record.lines('a.jsonl', [])
    await record.episode('candidate-0', {}, [])
    const said = await record.close(MIB)
    expect(record.name).toBeNull()
    expect(said).toEqual({ step_record_error: expect.stringMatching(/^E(?:EXIST|NOTDIR)/) })
    expect(JSON.stringify(said)).not.toContain(tmpdir())
  })

  it('counts what does not fit, and never has more than the inventory can list', async () => {
    const record = await opened(1)
    await Promise.all(Array.from({ length: 400 }, (_, index) => record.episode(`candidate-${index}`, {}, [])))
    // Of 20 KB each. Texts would be searched for secrets.
    const large = Array.from({ length: 300 }, () => Array.from({ length: 10_000 }, () => 1))
    await record.write('large.json', large)
    await record.lines('large.jsonl', large)
    await record.close(100 * MIB)
    const files = await openArchive(directory).list('one/1')
    const kept = files?.filter(({ path }) => path.startsWith('episodes/')).length ?? 0
    expect(JSON.parse(await stored('1/dropped.json'))).toMatchObject({ files: 800 - kept + 2, lines: 91 })
    expect(kept).toBe(499)
  })

  it('refuses a path that would leave it', async () => {
    const record = await opened(1)
    for (const path of ['../a.json', '/a.json', 'a/../b.json', 'a.txt', '.a.json', 'a//b.json', 'a\\b.json'])
      await expect(record.write(path, 1)).rejects.toThrow('no path of a step record')
  })

  it('makes room among older ones when it is closed, and stays itself', async () => {
    for (const step of [2, 9, 10]) await put(`one/${step}/a.json`, 'x'.repeat(400))
    await put('one/9-2/a.json', 'x'.repeat(400))
    await put('one/notes/a.json', 'mine')
    await put('other/1/a.json', 'x'.repeat(4000))
    const record = await opened(3)
    await record.write('a.json', 'x'.repeat(100))
    await record.close(1000)
    expect((await readdir(join(directory, 'one'))).sort()).toEqual(['10', '3', '9-2', 'notes'])
    const large = await opened(11)
    await large.write('a.json', 'x'.repeat(2000))
    await large.close(1000)
    expect((await readdir(join(directory, 'one'))).sort()).toEqual(['11', 'notes'])
    expect(existsSync(join(directory, 'other/1/a.json'))).toBe(true)
  })
})

/** A socket: no file, and a reader of it would wait. */
async function socketAt(path: string): Promise<AsyncDisposable> {
  const server = createServer().listen(join(directory, path))
  await once(server, 'listening')
  return server
}

describe('the archive', () => {
  it('lists JSON and JSONL files with their sizes, sorted, and nothing that a link leads to', async () => {
    for (const path of ['b.json', 'a.jsonl', 'episodes/candidate-0/episode.json', 'notes.txt']) await put(`one/1/${path}`, 'text')
    await put('secret/secret.json', 'text')
    await symlink(join(directory, 'secret'), join(directory, 'one/1/linked'))
    await symlink(join(directory, 'secret/secret.json'), join(directory, 'one/1/linked.json'))
    await using _ = await socketAt('one/1/pipe.json')
    expect(await openArchive(directory).list('one/1')).toEqual([
      { path: 'a.jsonl', bytes: 4 },
      { path: 'b.json', bytes: 4 },
      { path: 'episodes/candidate-0/episode.json', bytes: 4 },
    ])
  })

  it('reads one listed file, and nothing else', async () => {
    const archive = openArchive(directory)
    await put('one/1/episodes/candidate-0/episode.json', '{"score": 1}')
    await put('one/1/notes.txt', 'text')
    await using _ = await socketAt('one/1/pipe.json')
    expect(await archive.read('one/1', 'episodes/candidate-0/episode.json')).toBe('{"score": 1}')
    for (const path of ['none.json', 'notes.txt', 'episodes', 'pipe.json', 'notes.txt/a.json', `${'a'.repeat(300)}.json`])
      expect(await archive.read('one/1', path)).toBeNull()
  })

  it.each(['/etc/hosts.json', '../2/a.json', 'a/../../2/a.json', './a.json', 'a\\b.json', 'a.json\0', '', 'a//b.json', 'a/'])(
    'refuses the path %j',
    async (path) => {
      await put('one/1/a.json', '1')
      await put('one/2/a.json', '2')
      await expect(openArchive(directory).read('one/1', path)).rejects.toMatchObject({ kind: 'invalid', code: 'bad_path' })
    },
  )

  it('refuses a path through a link, whether it leads anywhere or not', async () => {
    await put('one/1/a.json', '1')
    await put('secret/secret.json', 'text')
    await symlink(join(directory, 'secret'), join(directory, 'one/1/linked'))
    await symlink(join(directory, 'nowhere'), join(directory, 'one/1/linked.json'))
    for (const path of ['linked/secret.json', 'linked.json'])
      await expect(openArchive(directory).read('one/1', path)).rejects.toMatchObject({ code: 'bad_path' })
  })

  it.each(['one/2', 'two/1', '../1', 'one/..', 'one', '/one/1', 'one/1/episodes', 'linked/1', 'one/3', ''])(
    'has no record %j',
    async (record) => {
      await put('one/1/episodes/a.json', '1')
      await put('one/4/a.json', '1')
      await symlink(join(directory, 'one'), join(directory, 'linked'))
      await symlink(join(directory, 'one/4'), join(directory, 'one/3'))
      expect(await openArchive(directory).list(record)).toBeNull()
      expect(await openArchive(directory).read(record, 'a.json')).toBeNull()
    },
  )

  it('refuses to list more than 1000 entries, folders and hidden ones included, and to read more than 4 MiB', async () => {
    const archive = openArchive(directory)
    await Promise.all(Array.from({ length: 998 }, (_, index) => put(`one/1/episodes/${index}.txt`, '')))
    await put('one/1/a.json', 'x'.repeat(4 * MIB))
    expect(await archive.list('one/1')).toHaveLength(1)
    expect(await archive.read('one/1', 'a.json')).toHaveLength(4 * MIB)
    await put('one/1/b.json', 'x'.repeat(4 * MIB + 1))
    await expect(archive.list('one/1')).rejects.toMatchObject({ kind: 'invalid', code: 'step_files_limit' })
    await expect(archive.read('one/1', 'b.json')).rejects.toMatchObject({ kind: 'invalid', code: 'step_files_limit' })
  })
})
