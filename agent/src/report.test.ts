import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { UsageError } from '@svc-ai/client/shared'
import { installed, SCENARIO, start, type TestInstall } from './testing/agent-install.ts'
import { transcript } from './testing/harness-home.ts'
import { json, upstream, type Heard } from './testing/upstream.ts'
import { openCapture } from './captures.ts'
import { capturesFolder } from './places.ts'
import { report } from './report.ts'

const DEAD = 2 ** 30
const session = (last: number): string => `00000000-0000-4000-8000-00000000000${last}`

function captured({ record, home }: TestInstall, last: number, receipts: readonly string[], pid = DEAD): (receipt: string) => void {
  const { url, scenario, adapter, release_id } = record
  const head = { url, scenario, adapter, release_id, session: session(last), pid, started_at: last }
  const capture = openCapture(capturesFolder(home), head)
  for (const receipt of receipts) capture.keep(receipt)
  return (receipt) => capture.keep(receipt)
}

interface StoredReport {
  readonly agent_record_id: string
  readonly references: readonly string[]
  readonly score: number
}

/** Stores reports by id as the service does. The script says what becomes of the answers, first first. */
async function service(...script: ('answer' | 'drop' | 'lose' | 'refuse' | 'forget')[]) {
  const stored = new Map<string, string>()
  const store = ({ body }: Heard): number => {
    const { agent_record_id }: StoredReport = JSON.parse(body)
    if ((stored.get(agent_record_id) ?? body) !== body) return 409
    stored.set(agent_record_id, body)
    return 200
  }
  const { url, heard } = await upstream((one, response) => {
    const behaviour = script.shift() ?? 'answer'
    if (behaviour === 'refuse') return json(response, 400, { error: { message: 'score: must be 0 or 1', code: 'report_schema' } })
    if (behaviour === 'forget') return json(response, 400, { error: { message: 'no such reference', code: 'unknown_reference' } })
    const status = behaviour === 'drop' ? 0 : store(one)
    if (behaviour !== 'answer') return response.destroy()
    return json(response, status, { agent_record_id: 'x', scenario: SCENARIO, request_type: 'report', error: { message: 'conflict' } })
  })
  const reports = (): StoredReport[] => [...stored.values()].map((body): StoredReport => JSON.parse(body))
  return { url, heard, reports }
}

/** An install whose first session has these receipts, and its service. */
async function reporting(receipts: readonly string[], script: Parameters<typeof service> = [], pid?: number) {
  const { url, heard, reports } = await service(...script)
  const install = await installed(url)
  return { install, heard, reports, keep: captured(install, 1, receipts, pid) }
}

describe('report', () => {
  it('is about the newest session, with its receipts in order, once; given again it scores no other one', async () => {
    const { install, heard, reports } = await reporting(['a'])
    captured(install, 2, ['b-2', 'b-1'])
    const terminal = transcript()
    expect(await report(install, ['--score', '0.5', '--feedback', 'fine'], terminal)).toBe(0)
    expect(reports()).toMatchObject([
      { score: 0.5, feedback: 'fine', references: ['b-2', 'b-1'], metadata: { client_release: 'release-1' } },
    ])
    expect(heard[0]?.headers['authorization']).toBe('Bearer secret-token')
    expect(terminal.printed).toEqual([`score 0.5 reported for 2 receipts of session ${session(2)}`])
    const again = `session ${session(2)} was already reported; --session names another, 'svc-pi report --list' shows those there are`
    await expect(report(install, ['--score', '1'], terminal)).rejects.toThrow(again)
    expect(reports()).toHaveLength(1)
    expect(await report(install, ['--score', '1', '--session', session(1)], terminal)).toBe(0)
    expect(reports()[1]).toMatchObject({ score: 1, references: ['a'] })
    await expect(report(install, ['--score', '1'], terminal)).rejects.toThrow(again)
    expect(readdirSync(capturesFolder(install.home)).every((name) => name.includes(session(2)))).toBe(true)
  })

  it('takes a score below zero as it is typed, and says in one line what it does not understand', async () => {
    const { install, reports } = await reporting(['a'])
    expect(await report(install, ['--score', '-0.5'], transcript())).toBe(0)
    expect(reports()).toMatchObject([{ score: -0.5, references: ['a'] }])
    for (const args of [
      ['--score', '--list'],
      ['--scores', '1'],
    ])
      await expect(report(install, args, transcript())).rejects.toThrow(/^(?:Option|Unknown)[^\n]*$/)
  })

  it('of a session that is still running says so, and later covers what came since', async () => {
    const { install, reports, keep } = await reporting(['a', 'b'], [], process.pid)
    const terminal = transcript()
    await report(install, ['--score', '1'], terminal)
    expect(terminal.printed[0]).toContain('still running')
    keep('c')
    await report(install, ['--score', '0'], terminal)
    expect(reports().map(({ references }) => references)).toEqual([['a', 'b'], ['c']])
  })

  it('makes one report of each receipt when asked, and several of more than one report may hold', async () => {
    const { install, reports } = await reporting(['a', 'b'])
    await report(install, ['--score', '1', '--per-receipt'], transcript())
    expect(reports().map(({ references }) => references)).toEqual([['a'], ['b']])
    captured(
      install,
      2,
      Array.from({ length: 2001 }, (_, index) => `r-${index}`),
    )
    await report(install, ['--score', '1'], transcript())
    expect(reports().map(({ references }) => references.length)).toEqual([1, 1, 1000, 1000, 1])
  })

  it('whose answer was lost is stored once when sent again, also when the session went on meanwhile', async () => {
    const { install, reports, keep } = await reporting(['a', 'b'], ['lose'], process.pid)
    await expect(report(install, ['--score', '1'], transcript())).rejects.toThrow('cannot be reached')
    keep('c')
    expect(await report(install, ['--score', '1'], transcript())).toBe(0)
    expect(reports().map(({ references }) => references)).toEqual([['a', 'b'], ['c']])
  })

  it('that never arrived may be sent again with another score', async () => {
    const { install, reports } = await reporting(['a'], ['drop'])
    await expect(report(install, ['--score', '1'], transcript())).rejects.toThrow('cannot be reached')
    expect(await report(install, ['--score', '0'], transcript())).toBe(0)
    expect(reports()).toMatchObject([{ score: 0, references: ['a'] }])
  })

  it('that did arrive stands, and a second score for the same receipts is not stored beside it', async () => {
    const { install, reports } = await reporting(['a'], ['lose'])
    await expect(report(install, ['--score', '1'], transcript())).rejects.toThrow('cannot be reached')
    const terminal = transcript()
    expect(await report(install, ['--score', '0'], terminal)).toBe(1)
    expect(terminal.warned).toEqual([expect.stringContaining('it stands')])
    expect(reports()).toMatchObject([{ score: 1 }])
    await expect(report(install, ['--score', '0'], transcript())).rejects.toThrow('already reported')
  })

  it('that is refused keeps everything and says why', async () => {
    const { install, reports } = await reporting(['a'], ['refuse'])
    await expect(report(install, ['--score', '1'], transcript())).rejects.toThrow('score: must be 0 or 1')
    await report(install, ['--score', '1'], transcript())
    expect(reports()).toMatchObject([{ references: ['a'] }])
  })

  it('about receipts that the service does not know is set aside, and later ones can be reported', async () => {
    const { install, reports, keep } = await reporting(['old'], ['forget'], process.pid)
    const terminal = transcript()
    expect(await report(install, ['--score', '1'], terminal)).toBe(1)
    expect(terminal.warned.join()).toContain('does not know these receipts')
    keep('new')
    expect(await report(install, ['--score', '1'], transcript())).toBe(0)
    expect(reports()).toMatchObject([{ references: ['new'] }])
  })

  it('is sent by one process at a time', async () => {
    const asked = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    const { url, heard } = await upstream(async (_heard, response) => {
      asked.resolve()
      await go.promise
      json(response, 200, { agent_record_id: 'x', scenario: SCENARIO, request_type: 'report' })
    })
    const install = await installed(url)
    captured(install, 1, ['a'])
    const first = start(install, 'report', '--score', '1')
    await asked.promise
    const second = await start(install, 'report', '--score', '0').end
    expect(second).toMatchObject({ code: 1, stderr: expect.stringContaining('another report') })
    go.resolve()
    expect(await first.end).toMatchObject({ code: 0, stderr: '' })
    expect(heard).toHaveLength(1)
  })

  it.each([
    [[]],
    [['--score', 'good']],
    [['--score', '']],
    [['--score', 'Infinity']],
    [['--score', '1', '--what']],
    [['--score', '1', 'x']],
  ])('is not understood with %j', async (args) => {
    const install = await installed()
    captured(install, 1, ['a'])
    await expect(report(install, args, transcript())).rejects.toThrow(UsageError)
  })

  it('lists the sessions, newest first, and takes the one that is named', async () => {
    const { install, reports } = await reporting(['a'])
    captured(install, 2, ['b', 'c'], process.pid)
    const terminal = transcript()
    expect(await report(install, ['--list'], terminal)).toBe(0)
    expect(terminal.printed).toEqual([
      `${session(2)}  1970-01-01 00:00Z  2 receipts, 2 to report  (still running)`,
      `${session(1)}  1970-01-01 00:00Z  1 receipt, 1 to report`,
    ])
    expect(await report(install, ['--score', '1', '--session', session(1), '--json'], terminal)).toBe(0)
    expect(reports()).toMatchObject([{ references: ['a'] }])
    expect(JSON.parse(terminal.printed[2] ?? '')).toMatchObject({ session: session(1), live: false, score: 1, receipts: 1, conflicts: [] })
    await expect(report(install, ['--score', '1', '--session', session(9)], terminal)).rejects.toThrow('there is no session')
  })

  it('from inside a session goes through its proxy and is about that session', async () => {
    const { url, heard, reports } = await service()
    const install = await installed()
    captured(install, 1, ['own'], process.pid)
    captured(install, 2, ['newer'])
    const env = { ...install.env, SVC_SESSION: session(1), SVC_HARNESS_ROOT: install.destination, SVC_PROXY_URL: url, SVC_PROXY_KEY: 'key' }
    await report({ ...install, env }, ['--score', '1'], transcript())
    expect(reports()).toMatchObject([{ references: ['own'] }])
    expect(heard[0]?.headers['authorization']).toBe('Bearer key')
    const elsewhere = { ...env, SVC_HARNESS_ROOT: join(install.home, 'another') }
    await expect(report({ ...install, env: elsewhere }, ['--score', '1'], transcript())).rejects.toThrow('http://127.0.0.1:1')
  })
})
