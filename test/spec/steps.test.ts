/** What steps leave beside their rows, read back through the route; and where it goes when its scenario is deleted. */
import { existsSync, globSync } from 'node:fs'
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { sharedFolder } from '../support/folder.ts'
import { ownWorld, sharedWorld, type Answer, type World } from '../support/world.ts'
import { expectRefusal, INBOX_RECIPE, named, rowsOf, textAt } from './support/helpers.ts'
import { fresh, memberOf, type Trainee } from './support/trainee.ts'

const MIB = 1024 * 1024

const settingsIn = (place: string, recipe = INBOX_RECIPE) => ({
  recipe,
  'evolution.proposals_dir': join(place, 'proposals'),
  'evolution.step_record_dir': join(place, 'steps'),
})
const folder = sharedFolder()
const here = sharedWorld({ settings: settingsIn(folder) })
const records = ({ name }: Trainee, step: string, query = '', where = here): Promise<Answer> =>
  where.get(`/svc/harness/releases/${step}/records${query}`, named(name))

/** A scenario with a waiting proposal. */
async function proposed(where: World): Promise<Trainee> {
  const s = await fresh(where)
  const mutations = [{ op: 'create', id: 'more', options: { name: 'rules', config: { text: 'More.' } } }]
  await where.post('/svc/harness/proposals', { mutations, reason: '', session: 's', release_id: 'r' }, named(s.name))
  return s
}

/** A scenario whose step 1 was recorded, and the folder that holds its record. */
async function stepped(where = here): Promise<{ s: Trainee; directory: string }> {
  const s = await proposed(where)
  await s.consumer((await s.reported())[1])
  const record = memberOf(await s.release(), 'metrics')['step_record']
  return { s, directory: join(folder, 'steps', typeof record === 'string' ? record : 'none') }
}

const placesOf = (own: string): readonly string[] => [join(folder, 'proposals', own), join(folder, 'steps', own)]
const folderOf = (directory: string): string => directory.split('/').at(-2) ?? ''

describe('the files of a step', () => {
  let s: Trainee
  let directory: string
  beforeAll(async () => {
    ;({ s, directory } = await stepped())
  })

  it('are listed with their sizes, and read one at a time [steps.inventory] [steps.file] [steps.no-store]', async () => {
    const listed = await records(s, '1')
    expect(listed.json).toEqual({
      status: 'retained',
      files: ['episodes/candidate-0/episode.json', 'episodes/candidate-0/trajectory.jsonl', 'mutations.json'].map((path) => ({
        path,
        bytes: expect.any(Number),
      })),
    })
    expect(listed.headers['cache-control']).toBe('no-store')
    for (const row of rowsOf(listed, 'files')) {
      const path = textAt(row, 'path')
      const read = await records(s, '1', `?path=${encodeURIComponent(path)}`)
      expect(read.json).toEqual({ status: 'retained', path, text: expect.any(String) })
      expect(Buffer.byteLength(textAt(read.json, 'text'))).toBe(row['bytes'])
      expect(read.headers['cache-control']).toBe('no-store')
    }
  })

  it('that are neither JSON nor JSONL, or not there, are 404 [steps.file]', async () => {
    await writeFile(join(directory, 'notes.txt'), 'text')
    expect(rowsOf(await records(s, '1'), 'files').map(({ path }) => path)).not.toContain('notes.txt')
    for (const path of ['notes.txt', 'none.json', 'episodes']) expectRefusal(await records(s, '1', `?path=${path}`), 404, 'unknown_file')
  })

  it.each(['/etc/passwd', '../0/a.json', 'episodes/../../1/mutations.json', '..', 'a%5Cb.json', 'a.json%00', '', './mutations.json'])(
    'are never outside of its record: path=%s is 400 [steps.confined]',
    async (path) => {
      expectRefusal(await records(s, '1', `?path=${path}`), 400, 'bad_path')
    },
  )

  it('are never what a link leads to [steps.confined]', async () => {
    await mkdir(join(folder, 'secret'), { recursive: true })
    await writeFile(join(folder, 'secret', 'secret.json'), '"secret"')
    await symlink(join(folder, 'secret'), join(directory, 'linked'))
    await symlink(join(folder, 'secret', 'secret.json'), join(directory, 'linked.json'))
    expect((await records(s, '1')).text).not.toContain('linked')
    for (const path of ['linked/secret.json', 'linked.json']) expectRefusal(await records(s, '1', `?path=${path}`), 400, 'bad_path')
  })

  it('past a limit are 400 and never cut [steps.limits] [limits.step-files] [errors.400-steps]', async () => {
    await mkdir(join(directory, 'more'))
    await writeFile(join(directory, 'whole.json'), 'x'.repeat(4 * MIB))
    await writeFile(join(directory, 'large.json'), 'x'.repeat(4 * MIB + 1))
    expect(textAt((await records(s, '1', '?path=whole.json')).json, 'text')).toHaveLength(4 * MIB)
    expectRefusal(await records(s, '1', '?path=large.json'), 400, 'step_files_limit')
    await Promise.all(Array.from({ length: 1000 }, (_, index) => writeFile(join(directory, 'more', `${index}.txt`), '')))
    expectRefusal(await records(s, '1'), 400, 'step_files_limit')
  })

  it('are none of a row that left none, of a record that is gone, and where recording is off [steps.states]', async () => {
    expect((await records(s, '0')).json).toEqual({ status: 'not_recorded', files: [] })
    await rm(directory, { recursive: true })
    for (const query of ['', '?path=mutations.json']) {
      const answer = await records(s, '1', query)
      expect(answer).toMatchObject({ status: 200, json: { status: 'missing', files: [] } })
      expect(answer.headers['cache-control']).toBe('no-store')
    }
    const off = await ownWorld({ settings: settingsIn(folder, `${INBOX_RECIPE}#unrecorded`) })
    expect((await records((await stepped(off)).s, '1', '', off)).json).toEqual({ status: 'disabled', files: [] })
  })

  it.each(['2', '-1', '1.0', 'one', '0000000001', '1e0', '%201'])('of the step %s are 404', async (step) => {
    expectRefusal(await records(s, step), 404, 'unknown_step')
  })
})

describe('deleting a scenario', () => {
  it('moves its inbox and its step records under archived/ beside them [delete.rule-1-recipe]', async () => {
    const { s, directory } = await stepped()
    const own = folderOf(directory)
    for (const place of placesOf(own)) expect(existsSync(place)).toBe(true)
    expect((await s.remove()).status).toBe(200)
    for (const place of placesOf(own)) expect(existsSync(place)).toBe(false)
    expect(globSync(join(folder, 'steps', 'archived', `${own}-*`, '1', 'mutations.json'))).toHaveLength(1)
    expect(globSync(join(folder, 'proposals', 'archived', `${own}-*`, 'claimed', '*.json'))).toHaveLength(1)
  })

  it('moves them also when it is not loaded [delete.rule-1-recipe]', async () => {
    const one = await ownWorld({ settings: { ...settingsIn(folder), 'svc.max_loaded_scenarios': 1 } })
    const { s, directory } = await stepped(one)
    await fresh(one)
    expect((await s.remove()).status).toBe(200)
    expect(globSync(join(folder, 'steps', 'archived', `${folderOf(directory)}-*`))).toHaveLength(1)
  })

  it('that never had any leaves nothing, and a folder that cannot be moved does not prevent it [delete.rule-1-recipe]', async () => {
    const before = await readdir(join(folder, 'steps', 'archived')).catch(() => [])
    expect((await (await fresh(here)).remove()).status).toBe(200)
    expect(await readdir(join(folder, 'steps', 'archived')).catch(() => [])).toEqual(before)
    const place = join(folder, 'blocked')
    const blocked = await ownWorld({ settings: settingsIn(place) })
    const s = await proposed(blocked)
    await writeFile(join(place, 'proposals', 'archived'), 'in the way')
    expect((await s.remove()).status).toBe(200)
    expect(JSON.stringify(blocked.log)).toContain('could not be moved')
  })
})
