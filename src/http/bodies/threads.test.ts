/** Threads for large bodies: refusals cross, a thread that dies takes one request along, and closing ends them all. */
import { afterEach, describe, expect, it } from 'vitest'
import { BodyBudget } from './budget.ts'
import { BytePieces } from '../../kit/index.ts'
import { BodyThreads } from './threads.ts'

let threads: BodyThreads
afterEach(() => threads.close())

/** In a few pieces. */
function bodyOf(text: string): BytePieces {
  const size = Math.ceil(text.length / 5)
  return new BytePieces([0, 1, 2, 3, 4].map((at) => Buffer.from(text.slice(at * size, (at + 1) * size))))
}

const OUTLINE = { kind: 'outline', tags: {} } as const

describe('threads for large bodies', () => {
  it('answer with what they found and give the bytes back', async () => {
    threads = new BodyThreads()
    const text = `{"model":"m","response":1,"messages":[${'{},'.repeat(1000)}{}]}`
    const { findings, pieces } = await threads.run(OUTLINE, bodyOf(text))
    expect(pieces.joined().toString()).toBe(text)
    expect(findings.facts).toEqual({ model: 'm' })
    expect(findings.kept.map(({ start, end }) => text.slice(start, end).slice(0, 12))).toEqual(['"model":"m"', '"messages":['])
    await expect(threads.run(OUTLINE, bodyOf('[1'))).rejects.toMatchObject({ kind: 'invalid', code: 'malformed_json' })
    const [draft] = (await threads.run({ kind: 'report', tags: {} }, bodyOf('{"score":1,"metadata":{"n":1.0}}'))).findings
    expect(Buffer.from(draft?.payload ?? []).toString()).toBe('{"score":1,"metadata":{"n":1.0}}')
  })

  it('put the tags into a large member, so that the event loop does not wait for it', async () => {
    threads = new BodyThreads()
    const members = '"a":1,'.repeat(20_000)
    const text = `{"model":"m","metadata":{${members}"tags":{"run":"old"}},"metadata_tags":[1]}`
    const { findings } = await threads.run({ kind: 'outline', tags: { run: 'new' } }, bodyOf(text))
    expect(findings.kept.map(({ start, end }) => text.slice(start, end))).toEqual(['"model":"m"'])
    const tagged = [...findings.tagged].map(([key, value]) => [key, typeof value === 'string' ? value : Buffer.from(value).toString()])
    expect(tagged).toEqual([
      ['metadata', `{${members}"tags":{"run":"new"}}`],
      ['metadata_tags', '[1]'],
    ])
  })

  it('that die take the request along that they worked on, and no other', async () => {
    const dying = `import { parentPort } from 'node:worker_threads'
      parentPort.on('message', ({ job, pieces }) => {
        if (job.tags.end === 'now') process.exit(1)
        parentPort.postMessage({ findings: { facts: {} }, pieces }, pieces)
      })`
    threads = new BodyThreads(new URL(`data:text/javascript,${encodeURIComponent(dying)}`))
    const die = { kind: 'outline', tags: { end: 'now' } } as const
    const ends = await Promise.allSettled([die, OUTLINE, die, OUTLINE, die, OUTLINE].map((job) => threads.run(job, bodyOf('{}'))))
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'])
    expect(ends[0]).toMatchObject({ reason: { kind: 'unavailable', code: 'body_check_failed' } })
  })

  it('that cannot be started refuse what waits for them', async () => {
    threads = new BodyThreads(new URL('none:thread'))
    const ends = await Promise.allSettled([threads.run(OUTLINE, bodyOf('{}')), threads.run(OUTLINE, bodyOf('{}'))])
    for (const end of ends) expect(end).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable', code: 'body_check_failed' } })
  })

  it('refuse once they are closed', async () => {
    threads = new BodyThreads()
    const waiting = threads.run(OUTLINE, bodyOf('{}'))
    await Promise.all([threads.close(), expect(waiting).rejects.toMatchObject({ kind: 'unavailable' })])
    await expect(threads.run(OUTLINE, bodyOf('{}'))).rejects.toMatchObject({ kind: 'unavailable' })
  })
})

describe('the budget of bodies', () => {
  it('counts what is long, refuses what has no room, and gets back what is over', () => {
    threads = new BodyThreads()
    const MIB = 1024 * 1024
    const budget = new BodyBudget(2 * MIB)
    const [first, second, short] = [budget.open(), budget.open(), budget.open()]
    first.add(2 * MIB)
    expect(() => second.add(MIB)).toThrow(/send the request again/)
    short.add(1000)
    first.close()
    second.close()
    second.add(MIB)
    expect(budget.bytes).toBe(MIB - 256 * 1024 + MIB)
    second.close()
    short.close()
    expect(budget.bytes).toBe(0)
  })
})
