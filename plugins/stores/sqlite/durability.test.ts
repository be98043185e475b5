/** What survives failing machines: syncs are counted, processes killed, disks filled and broken, all on the real thing. */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, it } from 'vitest'
import type { JsonObject, Store } from '../../../src/contract/index.ts'
import { counted, sequences } from '../../../conformance/store-samples.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { program } from '../../../test/support/programs.ts'
import sqlite from './index.ts'

const FIXTURE = fileURLToPath(new URL('./store.fixture.mjs', import.meta.url))
const SLOW_SYNC_MICROSECONDS = 3_000_000

beforeAll(() => void program('strace'))

describe('syncing', () => {
  it('every append is synced before it is answered', async () => {
    const idle = await countSyncs(async () => undefined)
    const syncs = await countSyncs(async (child) => {
      for (const index of counted(50)) await child.ask('append', `r${index}`)
    })
    assert.ok(syncs - idle >= 50, `50 appends, ${syncs - idle} syncs`)
  })
  it('appends that wait together share a sync', async () => {
    const idle = await countSyncs(async () => undefined)
    const syncs = await countSyncs(async (child) => {
      await Promise.all(counted(64).map((index) => child.ask('append', `r${index}`)))
    })
    assert.ok(syncs - idle <= 32, `64 appends at once, ${syncs - idle} syncs`)
  })
  it('a read is answered while a sync takes its time', async () => {
    const child = await start(temporaryFolder())
    await child.ask('append', 'first')
    const stop = await trace(child, `fsync,fdatasync:delay_enter=${SLOW_SYNC_MICROSECONDS}`)
    const order: string[] = []
    const append = child.ask('append', 'second').then(() => order.push('append'))
    await child.ask('get', 'first').then(() => order.push('get'))
    await append
    await stop()
    await child.end()
    assert.deepEqual(order, ['get', 'append'])
  })
})

describe('kill -9', () => {
  it('every record answered for is there once and unaltered, and nothing is missing between', async () => {
    const directory = temporaryFolder()
    const answered = new Set<string>()
    for (let round = 0; round < 3; round += 1) {
      const child = await start(directory)
      const enough = Promise.withResolvers<void>()
      for (let index = 0; index < 2000; index += 1) {
        const id = `r${round}-${index}`
        const answer = child.ask('append', id).then(() => answered.add(id).size)
        void answer.then((count) => (count >= (round + 1) * 300 ? enough.resolve() : undefined))
      }
      await enough.promise
      await child.kill()
    }
    await withStore(directory, async (store) => {
      const rows = await store.scenario('a').records({ after: 0, limit: 10_000 })
      assert.deepEqual(sequences(rows), counted(rows.length))
      const ids = rows.map((row) => row.agent_record_id)
      assert.equal(new Set(ids).size, ids.length)
      for (const id of answered) {
        const found = await store.scenario('a').get(id)
        assert.equal(Buffer.from(found?.payload ?? []).toString(), JSON.stringify({ id, text: id.repeat(64) }))
      }
      assert.deepEqual(await store.verify(() => undefined), [])
    })
  })
})

describe('kill -9 while bodies are compressed', () => {
  it('with the append or afterwards, leaves every body answered for as it was sent', async () => {
    const directory = temporaryFolder()
    const answered = new Set<string>()
    for (const [round, milliseconds] of [0, 110, 250, 400].entries()) {
      const child = await start(directory)
      const turns = counted(24).map((turn) => `r${round}-${turn}`)
      await Promise.all(turns.slice(0, 16).map((id) => child.ask('turn', id).then(() => answered.add(id))))
      for (const id of turns.slice(16)) void child.ask('turn', id).then(() => answered.add(id))
      await pause(milliseconds)
      await child.kill()
    }
    await withStore(directory, async (store) => {
      for (const id of answered) {
        const found = Buffer.from((await store.scenario('a').get(id))?.payload ?? []).toString()
        const said = Array.from({ length: Number(id.slice(3)) + 1 }, (_, turn) => `${turn} `.repeat(4000))
        assert.equal(found === JSON.stringify({ said, id }), true, id)
      }
      assert.deepEqual(await store.verify(() => undefined), [])
      assert.ok(answered.size >= 64)
    })
  })
})

describe('kill -9 while the index of the search is written', () => {
  it('leaves one that goes on where it was, with every record in it once', async () => {
    const directory = temporaryFolder()
    const first = await start(directory)
    await first.ask('fill', 2500)
    await first.kill()
    for (let left = Infinity; left > 0;) {
      const child = await start(directory)
      const before = Number((await child.ask('waiting', ''))['sequence'])
      let now = before
      while (now > 0 && now === before) now = Number((await child.ask('waiting', ''))['sequence'])
      await child.kill()
      assert.ok(now <= left, 'what was taken in is not taken in again')
      left = now
    }
    await withStore(directory, async (store) => {
      const { search } = store.scenario('a')
      for (const [text, count] of [
        ['f7', 1],
        ['f2499', 1],
        ['f*', 100],
      ] as const)
        assert.equal((await search?.find({ text, before: Number.MAX_SAFE_INTEGER, limit: 100 }))?.rows.length, count, text)
    })
  }, 180_000)
})

describe('kill -9 while archiving', () => {
  for (const milliseconds of [5, 20, 40, 80, 160]) {
    it(`after some ${milliseconds} ms leaves the scenario whole in exactly one place`, async () => {
      const directory = temporaryFolder()
      const child = await start(directory)
      await child.ask('fill', 3000)
      void child.ask('archive', 'a')
      await pause(milliseconds)
      await child.kill()
      const { live, exports } = await withStore(directory, async (store) => ({
        live: (await store.usage()).records,
        exports: existsSync(join(directory, 'archived')) ? readdirSync(join(directory, 'archived')) : [],
      }))
      assert.equal(exports.length, live === 0 ? 1 : 0)
      if (live > 0) return assert.equal(live, 3000)
      const elsewhere = temporaryFolder()
      copyFileSync(join(directory, 'archived', exports[0] ?? ''), join(elsewhere, 'records.sqlite3'))
      await withStore(elsewhere, async (store) => {
        assert.equal((await store.usage()).records, 3000)
        assert.deepEqual(await store.verify(() => undefined), [])
      })
    })
  }
})

describe('a disk that fails', () => {
  it('a full disk refuses the append, and takes it once there is room', async () => {
    const directory = temporaryFolder()
    const child = await start(directory)
    assert.equal((await child.ask('append', 'before'))['sequence'], 1)
    const stop = await trace(child, 'write,pwrite64,pwritev:error=ENOSPC', ['-P', join(directory, 'records.sqlite3-wal')])
    for (const _time of [1, 2]) assert.equal((await child.ask('append', 'during'))['refused'], 'disk_full')
    assert.equal((await child.ask('writing', ''))['sequence'], 'disk_full')
    assert.equal((await child.ask('get', 'before'))['sequence'], 1)
    await stop()
    assert.equal((await child.ask('writing', ''))['sequence'], null)
    assert.equal((await child.ask('append', 'after'))['sequence'], 2)
    assert.equal((await child.ask('append', 'during'))['sequence'], 3)
    await child.end()
    await withStore(directory, async (store) => assert.deepEqual(await store.verify(() => undefined), []))
  })
  it('a failed sync is final: nothing is acknowledged from then on, and what was stays readable', async () => {
    const directory = temporaryFolder()
    const child = await start(directory)
    await child.ask('append', 'before')
    const stop = await trace(child, 'fsync,fdatasync:error=EIO:when=1')
    assert.equal((await child.ask('append', 'during'))['refused'], 'storage_failed')
    await stop()
    assert.equal((await child.ask('append', 'after'))['refused'], 'storage_failed')
    assert.equal((await child.ask('writing', ''))['sequence'], 'storage_failed')
    assert.equal((await child.ask('get', 'before'))['sequence'], 1)
    await child.end()
    await withStore(directory, async (store) => {
      assert.equal((await store.scenario('a').get('before'))?.sequence, 1)
      assert.equal(await store.scenario('a').get('after'), null)
      assert.deepEqual(await store.verify(() => undefined), [])
    })
  })
})

describe('one process at a time', () => {
  it('what was answered survives a kill where bodies are encrypted, and no word of it is in the log that was left', async () => {
    const [directory, secret_key] = [temporaryFolder(), Buffer.alloc(32, 7).toString('base64')]
    const child = await start(directory, [], [secret_key])
    const ids = counted(40).map((index) => `receipt-word${index}`)
    await Promise.all(ids.map((id) => child.ask('append', id)))
    for (const turn of counted(6)) await child.ask('turn', `t-${turn}`)
    await child.kill()
    // The id of a record is readable; its body repeats it.
    for (const file of readdirSync(directory)) assert.ok(!readFileSync(join(directory, file)).includes('receipt-word1receipt-word1'), file)
    await withStore(
      directory,
      async (store) => {
        for (const id of ids) assert.match(Buffer.from((await store.scenario('a').get(id))?.payload ?? []).toString(), /word/)
        assert.deepEqual(await store.verify(() => undefined), [])
      },
      { secret_key, encrypt: true },
    )
  })
  it('a second process is refused, and let in once the first was killed', async () => {
    const directory = temporaryFolder()
    const first = await start(directory)
    await assert.rejects(Promise.resolve(sqlite.plugin.make({ directory })), { code: 'store_in_use' })
    await first.kill()
    await withStore(directory, async (store) => assert.deepEqual(await store.scenarios(), ['a']))
  })
})

type Answer = Readonly<Record<string, unknown>>

/** The fixture: asks it things and waits for each answer. */
class Child {
  readonly process: ChildProcess
  readonly #waiting = new Map<string, (answer: Answer) => void>()

  constructor(child: ChildProcess, lines: Interface) {
    this.process = child
    lines.on('line', (line) => {
      const answer: Answer = JSON.parse(line)
      this.#waiting.get(`${String(answer['verb'])} ${String(answer['id'])}`)?.(answer)
    })
  }

  ask(verb: 'append' | 'archive' | 'fill' | 'waiting' | 'get' | 'turn' | 'writing', id: string | number): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    this.#waiting.set(`${verb} ${id}`, resolve)
    this.process.stdin?.write(`${JSON.stringify({ verb, id })}\n`)
    return promise
  }

  async end(): Promise<void> {
    this.process.stdin?.end()
    await this.#exited()
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL')
    await this.#exited()
  }

  async #exited(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, 'exit')
  }
}

async function start(directory: string, before: readonly string[] = [], more: readonly string[] = []): Promise<Child> {
  const [command, ...rest] = [...before, process.execPath, FIXTURE, directory, ...more]
  const child = spawn(command ?? process.execPath, rest, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  await once(lines, 'line')
  return new Child(child, lines)
}

/** How many syncs a whole life of the process took. */
async function countSyncs(work: (child: Child) => Promise<void>): Promise<number> {
  const directory = temporaryFolder()
  const report = join(directory, 'syncs')
  const child = await start(join(directory, 'store'), ['strace', '-f', '-q', '-e', 'trace=fsync,fdatasync', '-o', report])
  await work(child)
  await child.end()
  assert.ok(existsSync(report))
  // A call that another thread interrupts in the report is written as two lines, of which only the first has the opening bracket.
  return readFileSync(report, 'utf8').match(/\bf(?:data)?sync\(/g)?.length ?? 0
}

/** Tampers with the system calls of a running process until the answer is called. */
async function trace(child: Child, tampering: string, filter: readonly string[] = []): Promise<() => Promise<void>> {
  const calls = tampering.slice(0, tampering.indexOf(':'))
  const args = ['-f', '-e', `trace=${calls}`, '-e', `inject=${tampering}`, ...filter, '-p', String(child.process.pid)]
  const tracer = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  await once(createInterface({ input: tracer.stderr }), 'line')
  return async () => {
    tracer.kill('SIGINT')
    await once(tracer, 'exit')
  }
}

async function withStore<T>(directory: string, work: (store: Store) => Promise<T>, more: JsonObject = {}): Promise<T> {
  const store = await sqlite.plugin.make({ directory, ...more })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}
