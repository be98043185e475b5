/** The command itself: what it prints, how it ends, and what is left when it is killed. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startService } from '../../src/main.ts'
import { runCommand, startCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { argumentsOf, dataPlaceIn, loadArguments, settingsOf } from '../support/settings.ts'
import { until } from '../support/wait.ts'
import { Original, streamed } from './original.ts'

const RECORDS = 1500

function many(folder: string): Original {
  const original = new Original(join(folder, 'source'))
  const chat = original.scenario('chat')
  chat.store(
    Array.from(
      { length: RECORDS },
      (_, at) => ({ id: `e${at}`, type: 'inference', at, payload: { model: 'm', stream: true, response: streamed(['a', 'b']) } }) as const,
    ),
  )
  for (let step = 0; step < 40; step += 1) {
    chat.publish({ files: { 'a.md': `${step}` }, at: step }, { consumed: [`e${step}`] })
  }
  return original
}

function small(folder: string): Original {
  const original = new Original(join(folder, 'source'))
  original.scenario('chat').store([{ id: 'e1', type: 'inference', at: 1, payload: {} }])
  return original
}

function importOf(records: string, artifacts: string, folder: string): readonly string[] {
  return ['import', 'reef', '--records', records, '--artifacts', artifacts, ...configured(folder)]
}

const configured = (folder: string): readonly string[] =>
  argumentsOf({ ...settingsOf(dataPlaceIn(folder), 'http://127.0.0.1:9'), recipe: 'record-only' })

it(
  'killed wherever it is, an import goes on when it is run again, and no service starts before it is through',
  { timeout: 120_000 },
  async () => {
    const folder = temporaryFolder()
    const original = many(folder)
    const args = [...importOf(original.records, original.artifacts, folder), '--json']
    const mark = join(dataPlaceIn(folder).records, 'import.json')
    const { records } = dataPlaceIn(folder)
    const written = (): number =>
      readdirSync(records).reduce((sum, name) => sum + (statSync(join(records, name), { throwIfNoEntry: false })?.size ?? 0), 0)
    for (const isFurther of [() => true, (before: number) => written() > before]) {
      const killed = startCommand(args)
      await until(() => existsSync(mark))
      const before = written()
      await Promise.race([until(() => isFurther(before)), killed.ended])
      killed.signal('SIGKILL')
      await killed.ended
    }
    if (existsSync(mark)) {
      const refused = await runCommand(['verify', ...configured(folder)])
      expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('interrupted') })
    }
    const { code, out } = await runCommand(args)
    expect(code).toBe(0)
    const head = expect.stringMatching(/^[0-9a-f]{40}$/)
    const there = { inference: RECORDS, report: 0, train: 0, steps: 40, releases: 41, consumed: 40 }
    expect(JSON.parse(out)).toEqual({
      dry_run: false,
      scenarios: [
        { scenario: 'chat', imported_as: 'chat', source: there, destination: there, served: { step: 40, release_id: head, finding: null } },
      ],
      remarks: [],
    })
    expect((await runCommand(['verify', ...configured(folder)])).out).toContain(`${RECORDS} checked, none damaged`)
  },
)

it('an import says that a service runs on the folders, that a folder is missing, and what went where', async () => {
  const folder = temporaryFolder()
  const original = small(folder)
  const args = importOf(original.records, original.artifacts, folder)
  const service = await startService(await loadArguments(configured(folder)), { log: { write: () => undefined, flush: () => undefined } })
  expect(await runCommand(args)).toMatchObject({ code: 2, err: expect.stringContaining('another process uses this record directory') })
  await service.close()
  expect(await runCommand(['import', 'reef', '--records', join(folder, 'nowhere')])).toMatchObject({
    code: 2,
    err: expect.stringContaining('there is no folder'),
  })
  const other = importOf(original.records, original.records, folder)
  expect(await runCommand(other)).toMatchObject({ code: 2, err: expect.stringContaining('not a git repository') })
  expect(existsSync(join(dataPlaceIn(folder).records, 'import.json'))).toBe(false)
  const done = await runCommand(args)
  expect(done.code).toBe(0)
  expect(done.out).toMatch(
    /"chat"\n {2}inference +there +1 +here +1\n[^]*\n {2}serves +release [0-9a-f]{40}, which it began with, as it was there\n[^]*1 scenario imported: nothing is missing/,
  )
})

it('doctor names folders of the original as a problem, with the command that imports them', async () => {
  const folder = temporaryFolder()
  const original = small(folder)
  const settings = { ...settingsOf({ records: original.records, repository: original.artifacts }, 'http://127.0.0.1:9') }
  const { code, out } = await runCommand(['doctor', ...argumentsOf(settings)])
  expect(code).toBe(2)
  expect(out).toContain(`svc import reef --records ${original.records} --artifacts ${original.artifacts}`)
  const alone = { ...settings, 'storage.agent_record_dir': join(folder, 'none yet') }
  const found = await runCommand(['doctor', ...argumentsOf(alone)])
  expect(found).toMatchObject({ code: 2, out: expect.stringContaining(`--artifacts ${original.artifacts}`) })
})
