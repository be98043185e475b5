/** The process of the trainers: what reaches it and comes back, and that neither process takes the other along but on purpose. */
import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { heard, oneStep, processHost } from '../../../test/fixtures/trainers/hosts.ts'
import { orderTo, trainerOf } from '../../../test/fixtures/trainers/orders.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { until } from '../../../test/support/wait.ts'
import { FolderDocuments } from '../../kit/index.ts'
import { documentsOf } from './host.ts'
import { coresIn } from './standing-back.ts'

const REAL_ENTRY = new URL('../../trainers-process.ts', import.meta.url)
const PROGRAM = new URL('../../../test/fixtures/trainers/leaves-process.ts', import.meta.url).pathname
const count = orderTo('count')
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`)

describe('a step', () => {
  it('is taken by a thread that is kept for its trainer', async () => {
    const host = processHost()
    await oneStep(host, trainerOf('one'), count)
    expect((await oneStep(host, trainerOf('one'), count)).metrics).toMatchObject({ taken: 2, scope: { scenario: 'one' } })
    expect((await oneStep(host, trainerOf('two'), count)).metrics).toMatchObject({ taken: 1 })
  })

  it('is told of as it goes, and has its exchanges', async () => {
    const [host, report] = [processHost({ entry: REAL_ENTRY }), heard()]
    await oneStep(host, trainerOf('one'), orderTo('report'), report)
    expect(report.said.map((each) => (Array.isArray(each) ? each[0] : each))).toEqual(['phase', 'line', 'episode'])
    const result = await oneStep(host, trainerOf('one'), orderTo('exchanges', {}, { r1: '{"ü":[1]}' }))
    expect(result.metrics).toEqual({ exchanges: [[{ ü: [1] }]] })
  })

  it.each([
    ['throws', orderTo('throw'), /^first line second line$/],
    ['ends the process', orderTo('killProcess'), 'the process of the trainers ended (SIGKILL)'],
  ] as const)('fails in words when its trainer %s, and the next one begins afresh', async (_what, order, words) => {
    const host = processHost({ threads: 1 })
    const failing = oneStep(host, trainerOf('one'), order)
    await expect(failing).rejects.toThrow(words)
    await expect(failing).rejects.toHaveProperty('name', 'StepFailure')
    expect((await oneStep(host, trainerOf('one'), count)).metrics).toMatchObject({ taken: 1 })
  })

  it('is not blamed when the process ended during several', async () => {
    const [host, report] = [processHost(), heard()]
    const innocent = oneStep(host, trainerOf('one'), orderTo('ignoreAbort'), report)
    await report.first
    const ends = await Promise.allSettled([innocent, oneStep(host, trainerOf('two'), orderTo('killProcess'))])
    for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: { name: 'Error' } })
    expect((await oneStep(host, trainerOf('one'), count)).metrics).toMatchObject({ taken: 1 })
  })

  it('whose trainer ends the process again and again is blamed the second time, and takes no other along', async () => {
    const [host, stop] = [processHost(), new AbortController()]
    const ending = (): Promise<unknown> => oneStep(host, trainerOf('two'), orderTo('killProcess'))
    const [first, second] = [heard(), heard()]
    const innocent = oneStep(host, trainerOf('one'), orderTo('waitForAbort'), first)
    await first.first
    await expect(Promise.allSettled([innocent, ending()])).resolves.toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
    const again = oneStep(host, trainerOf('one'), orderTo('waitForAbort'), second, stop.signal)
    await second.first
    for (const _ of [2, 3]) await expect(ending()).rejects.toHaveProperty('name', 'StepFailure')
    expect((await oneStep(host, trainerOf('three'), count)).metrics).toMatchObject({ taken: 1 })
    stop.abort(new Error('enough'))
    await expect(again).rejects.toThrow('enough')
  })

  it('ends with the process where that hears of nothing any more', async () => {
    const host = processHost({ lateSeconds: 0.5 })
    process.kill(await pidIn(host), 'SIGSTOP')
    const step = oneStep(host, trainerOf('one', { limits: { timeoutSeconds: 0.5, memoryMib: 512 } }), count)
    await expect(step).rejects.toThrow('SIGKILL')
    expect((await oneStep(host, trainerOf('one'), count)).metrics).toMatchObject({ taken: 1 })
  })

  it('is not blamed when there is no process', async () => {
    const failing = oneStep(processHost({ entry: new URL('file:///nowhere/no-such-file.js') }), trainerOf('one'), count)
    await expect(failing).rejects.toMatchObject({ name: 'Error', message: 'the process of the trainers ended (exit code 1)' })
  })

  it('hears of an abort, and may keep its thread', async () => {
    const [host, stop, report] = [processHost({ threads: 1 }), new AbortController(), heard()]
    const step = oneStep(host, trainerOf('one'), orderTo('waitForAbort'), report, stop.signal)
    await report.first
    stop.abort(new Error('stopped'))
    await expect(step).rejects.toThrow('stopped')
    expect((await oneStep(host, trainerOf('one'), count)).metrics).toMatchObject({ taken: 2 })
    expect(report.said).toEqual([['line', 'agent', 'waiting', false]])
  })

  it('has the documents of its scenario, under its lease', async () => {
    const folder = temporaryFolder()
    const asked: unknown[] = []
    const documents = documentsOf((owner, fence) => {
      asked.push([owner, fence])
      return new FolderDocuments(folder)
    })
    const lease = { name: 'one', token: 7 }
    const [host, trainer] = [processHost({ documents }), trainerOf('one', { directory: '/somewhere/s1', lease })]
    await oneStep(host, trainer, orderTo('note'))
    expect((await oneStep(host, trainer, orderTo('note'))).metrics).toEqual({ notes: 'noted\nnoted\n' })
    expect(asked.at(-1)).toEqual(['scenarios/s1/own', lease])
  })
})

describe('the process', () => {
  it('ends after a while without a step, and is started again with the next', async () => {
    const host = processHost({ idleSeconds: 0.05 })
    const first = await pidIn(host)
    await until(() => !isAlive(first))
    expect((await oneStep(host, trainerOf('one'), count)).metrics).toMatchObject({ taken: 1 })
  })

  it.skipIf(process.platform !== 'linux' || !has('chrt') || !has('taskset') || ownCores().length < 2)(
    'stands back with all its threads, and leaves one core to the service (on Linux alone, with two cores, chrt and taskset)',
    async () => {
      const [host, stop, report] = [processHost(), new AbortController(), heard()]
      const step = oneStep(host, trainerOf('one'), orderTo('loopAndSayWhere'), report, stop.signal)
      const tasks = `/proc/${await report.first}/task`
      const threads = () => readdirSync(tasks).map((thread) => join(tasks, thread))
      await until(() => threads().every((thread) => isIdleClass(thread) && coresOf(thread).join() === ownCores().slice(1).join()))
      stop.abort(new Error('enough'))
      await expect(step).rejects.toThrow('enough')
    },
  )

  it('is deaf to signals that are meant for the service', async () => {
    const [host, stop, report] = [processHost(), new AbortController(), heard()]
    const step = oneStep(host, trainerOf('one'), orderTo('loopAndSayWhere'), report, stop.signal)
    const pid = Number(await report.first)
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.kill(pid, signal)
    expect((await oneStep(host, trainerOf('two'), count)).metrics).toMatchObject({ taken: 1 })
    stop.abort(new Error('enough'))
    await expect(step).rejects.toThrow('enough')
    expect(isAlive(pid)).toBe(true)
  })

  it('ends with its host, which fails what runs without blaming the trainer', async () => {
    const [host, report] = [processHost(), heard()]
    const running = oneStep(host, trainerOf('one'), orderTo('loopAndSayWhere'), report)
    const end = Promise.allSettled([running])
    const pid = Number(await report.first)
    await host.close()
    expect(isAlive(pid)).toBe(false)
    expect(await end).toMatchObject([{ status: 'rejected', reason: { name: 'Refusal', code: 'stopping' } }])
    await expect(oneStep(host, trainerOf('late'), count)).rejects.toMatchObject({ code: 'stopping' })
  })

  it('keeps no service alive', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM])
    expect(stdout).toBe('reject\n')
  })

  it('stands back as far as a service that stands back further: coming forward may be forbidden', async () => {
    const service = spawn('nice', ['-n', '19', process.execPath, PROGRAM, 'loop'], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [said]: readonly unknown[] = await once(service.stdout, 'data')
    expect(getPriority(Number(String(said)))).toBe(19)
    service.kill('SIGKILL')
  })

  it('prints through the service, which knows what must not be printed', async () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => write.mockRestore())
    await oneStep(processHost(), trainerOf('one'), orderTo('print'))
    await until(() => write.mock.calls.some(([text]) => String(text) === 'printed in the thread\n'))
  })

  it('does not outlive a service that is killed, also while a trainer loops', async () => {
    const service = spawn(process.execPath, [PROGRAM, 'loop'], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [said]: readonly unknown[] = await once(service.stdout, 'data')
    const pid = Number(String(said))
    expect(isAlive(pid)).toBe(true)
    service.kill('SIGKILL')
    await until(() => !isAlive(pid))
  })
})

const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined
const coresOf = (thread: string): readonly number[] => coresIn(readFileSync(join(thread, 'status'), 'latin1'))
const ownCores = (): readonly number[] => coresOf('/proc/self')

/** Counted from behind the name, which may hold anything. */
const POLICY_AT = 38
const IDLE_CLASS = '5'

function isIdleClass(thread: string): boolean {
  const stat = readFileSync(join(thread, 'stat'), 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[POLICY_AT] === IDLE_CLASS
}

it('reads the cores of a process from its state', () => {
  expect(coresIn('Name:\tnode\nCpus_allowed:\tf3\nCpus_allowed_list:\t0-1,4-7,9\nMems_allowed:\t1\n')).toEqual([0, 1, 4, 5, 6, 7, 9])
  expect(coresIn('Cpus_allowed_list:\t3\n')).toEqual([3])
  expect(coresIn('Name:\tnode\n')).toEqual([])
})

/** Where the trainers run, once a step there is over. */
async function pidIn(host: ReturnType<typeof processHost>): Promise<number> {
  const [stop, report] = [new AbortController(), heard()]
  const step = oneStep(host, trainerOf('one'), orderTo('loopAndSayWhere'), report, stop.signal)
  const pid = Number(await report.first)
  stop.abort(new Error('enough'))
  await expect(step).rejects.toThrow('enough')
  return pid
}
