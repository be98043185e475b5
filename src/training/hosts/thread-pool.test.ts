/** Turns and threads: how many, whose, in which order, and until when. */
import { execFile } from 'node:child_process'
import { setImmediate as tick } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { heard, never, oneStep, threadHost, ThreadCount } from '../../../test/fixtures/trainers/hosts.ts'
import { orderTo, trainerOf } from '../../../test/fixtures/trainers/orders.ts'
import { IS_SHORT } from '../../../test/support/short.ts'
import { until } from '../../../test/support/wait.ts'

const count = orderTo('count')
const TRAINERS = IS_SHORT ? 50 : 200

/** Answers every order alike and loads nothing, for the test that starts hundreds. */
const BARE_THREAD = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', () => parentPort.postMessage({ said: 'done', result: { kind: 'reject' } }))
  `)}`,
)

describe('a thread', () => {
  it('is kept for its trainer, which finds itself as it left', async () => {
    const threads = new ThreadCount()
    const host = threadHost()
    await oneStep(host, trainerOf('one'), count)
    const { metrics } = await oneStep(host, trainerOf('one'), count)
    expect(metrics).toMatchObject({ taken: 2, scope: { scenario: 'one', component: '', directory: 'one' } })
    expect(threads.started).toBe(1)
  })

  it('is never shared: another scenario, component or directory begins in a fresh one', async () => {
    const host = threadHost({ threads: 4 })
    await oneStep(host, trainerOf('one'), count)
    for (const other of [trainerOf('two', { directory: 'one' }), trainerOf('one', { directory: 'later' })])
      expect((await oneStep(host, other, count)).metrics).toMatchObject({ taken: 1 })
  })

  it('gives way to another trainer when there are as many as allowed: the one idle longest ends', async () => {
    const host = threadHost({ threads: 2 })
    for (const name of ['one', 'two', 'three']) await oneStep(host, trainerOf(name), count)
    expect((await oneStep(host, trainerOf('two'), count)).metrics).toMatchObject({ taken: 2 })
    expect((await oneStep(host, trainerOf('one'), count)).metrics).toMatchObject({ taken: 1 })
  })

  it('ends after it was idle for a while', async () => {
    const threads = new ThreadCount()
    const host = threadHost({ idleSeconds: 0.05 })
    await oneStep(host, trainerOf('one'), count)
    await until(() => threads.alive === 0)
    expect((await oneStep(host, trainerOf('one'), count)).metrics).toMatchObject({ taken: 1 })
  })

  it('does not keep the process alive while it is idle, and prints where the log goes', async () => {
    const script = new URL('../../../test/fixtures/trainers/leaves-idle.ts', import.meta.url)
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [script.pathname])
    expect(stdout).toBe('reject')
    expect(stderr).toBe('printed in the thread\n')
  })

  it('may use its port for a purpose of its own', async () => {
    const result = await oneStep(threadHost(), trainerOf('one'), orderTo('gossip'))
    expect(result.metrics).toMatchObject({ taken: 1 })
  })

  it('leaves the service answering while it computes without end', async () => {
    const [host, stop, report] = [threadHost(), new AbortController(), heard()]
    const step = oneStep(host, trainerOf('one'), orderTo('loopAloud'), report, stop.signal)
    await report.first
    for (let turn = 0; turn < 1000; turn += 1) await tick()
    stop.abort(new Error('enough'))
    await expect(step).rejects.toThrow('enough')
  })
})

describe('turns', () => {
  it('go to the oldest asker: trainers that ask again at once alternate', async () => {
    const host = threadHost({ threads: 1 })
    const served: string[] = []
    const trainer = async (name: string): Promise<void> => {
      for (let turn = 0; turn < 4; turn += 1) await host.inTurn(trainerOf(name), never, async () => void served.push(name))
    }
    await Promise.all(['a', 'b', 'c'].map(trainer))
    expect(served.join('')).toBe('abcabcabcabc')
  })

  it('never need more threads than allowed, however many trainers there are', async () => {
    const threads = new ThreadCount()
    const host = threadHost({ threads: 2, entry: BARE_THREAD })
    const results = await Promise.all(Array.from({ length: TRAINERS }, (_, index) => oneStep(host, trainerOf(`s${index}`), count)))
    expect(results.every(({ kind }) => kind === 'reject')).toBe(true)
    expect(threads.most).toBe(2)
    expect(threads.started).toBe(TRAINERS)
  })

  it('that are no longer wanted are given up, and the queue goes on', async () => {
    const [host, stop, held] = [threadHost({ threads: 1 }), new AbortController(), Promise.withResolvers<void>()]
    const first = host.inTurn(trainerOf('one'), never, () => held.promise)
    const second = host.inTurn(trainerOf('two'), stop.signal, () => Promise.resolve('served'))
    const third = host.inTurn(trainerOf('three'), never, () => Promise.resolve('served'))
    stop.abort(new Error('no longer'))
    await expect(second).rejects.toThrow('no longer')
    held.resolve()
    await first
    expect(await third).toBe('served')
    await expect(host.inTurn(trainerOf('four'), AbortSignal.abort(new Error('never')), () => held.promise)).rejects.toThrow('never')
  })

  it('are given back when their work fails', async () => {
    const host = threadHost({ threads: 1 })
    await expect(host.inTurn(trainerOf('one'), never, () => Promise.reject(new Error('mine')))).rejects.toThrow('mine')
    expect((await oneStep(host, trainerOf('one'), count)).kind).toBe('reject')
  })
})

describe('an abort', () => {
  it('reaches the trainer, which may end its step in its own way and keep its thread', async () => {
    const [threads, host, stop, report] = [new ThreadCount(), threadHost({ threads: 1 }), new AbortController(), heard()]
    const step = oneStep(host, trainerOf('one'), orderTo('waitForAbort'), report, stop.signal)
    await report.first
    stop.abort(new Error('stopped'))
    await expect(step).rejects.toThrow('stopped')
    expect((await oneStep(host, trainerOf('one'), count)).metrics).toMatchObject({ taken: 2 })
    expect(threads.started).toBe(1)
    expect(report.said).toEqual([['line', 'agent', 'waiting', false]])
  })

  it('that comes before the step began costs the trainer nothing', async () => {
    const [threads, host, stop] = [new ThreadCount(), threadHost({ threads: 1 }), new AbortController()]
    await oneStep(host, trainerOf('one'), count)
    await host.inTurn(trainerOf('one'), never, async (step) => {
      const aborted = step(orderTo('hang'), heard(), stop.signal)
      stop.abort(new Error('stopped'))
      await expect(aborted).rejects.toThrow('stopped')
    })
    expect((await oneStep(host, trainerOf('one'), count)).metrics).toMatchObject({ taken: 2 })
    expect(threads.started).toBe(1)
  })

  it.each(['ignoreAbort', 'loopAloud'])(
    'ends the thread of a trainer that does not listen (%s), and only then is the turn free',
    async (deed) => {
      const [threads, host, stop, report] = [new ThreadCount(), threadHost({ threads: 1 }), new AbortController(), heard()]
      const step = oneStep(host, trainerOf('one'), orderTo(deed), report, stop.signal)
      await report.first
      stop.abort(new Error('stopped'))
      await expect(step).rejects.toThrow('stopped')
      expect(threads.alive).toBe(1)
      expect((await oneStep(host, trainerOf('two'), count)).metrics).toMatchObject({ taken: 1 })
      expect(threads.most).toBe(1)
    },
  )
})

describe('closing', () => {
  it('ends every thread, fails what runs without blaming the trainer, and turns away what waits', async () => {
    const [threads, host, report] = [new ThreadCount(), threadHost({ threads: 2 }), heard()]
    await oneStep(host, trainerOf('idle'), count)
    const running = oneStep(host, trainerOf('busy'), orderTo('ignoreAbort'), report)
    const holding = host.inTurn(trainerOf('holds'), never, () => running)
    const waiting = oneStep(host, trainerOf('waits'), count)
    const ends = Promise.allSettled([running, holding, waiting])
    await report.first
    await host.close()
    expect(threads.alive).toBe(0)
    for (const end of await ends) expect(end).toMatchObject({ status: 'rejected', reason: { name: 'Refusal', code: 'stopping' } })
    await expect(oneStep(host, trainerOf('late'), count)).rejects.toMatchObject({ code: 'stopping' })
  })
})
