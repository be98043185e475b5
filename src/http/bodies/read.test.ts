/** Reading a body: its pieces stay what they are, unless copying them costs less. */
import { once } from 'node:events'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { BodyBudget } from './budget.ts'
import { readBody } from './read.ts'

const MIB = 1024 * 1024

async function read(parts: readonly Buffer[], bytesMax = MIB) {
  const request = new IncomingMessage(new Socket())
  const reading = readBody(request, bytesMax, new BodyBudget().open())
  for (const part of parts) request.push(part)
  request.complete = true
  request.push(null)
  return reading
}

const partsOf = (count: number, bytes: number): Buffer[] => Array.from({ length: count }, (_, at) => Buffer.alloc(bytes, 97 + (at % 26)))

describe('a body', () => {
  it('that is long is kept in the very pieces that it came in', async () => {
    const parts = partsOf(7, 60_000)
    const { list, length } = await read(parts)
    expect(length).toBe(420_000)
    expect(list).toHaveLength(7)
    for (const [at, part] of parts.entries()) expect(list[at]).toBe(part)
  })

  it.each([
    ['short', partsOf(3, 5000)],
    ['long, in a great many small pieces', partsOf(1000, 100)],
    ['empty', []],
  ])('that is %s is one piece', async (_what, parts) => {
    const { list } = await read(parts)
    expect(list).toHaveLength(1)
    expect(list[0]?.equals(Buffer.concat(parts))).toBe(true)
  })

  it('that is too long is refused, in pieces or not', async () => {
    await expect(read(partsOf(3, 60_000), 170_000)).rejects.toMatchObject({ kind: 'too_large' })
    await expect(read(partsOf(1, 60_000), 50_000)).rejects.toMatchObject({ kind: 'too_large' })
  })

  it.each([false, true])('whose client left before it was read is cut off; all of it had come: %s', async (complete) => {
    const request = new IncomingMessage(new Socket())
    request.push('x')
    request.complete = complete
    request.destroy()
    await once(request, 'close')
    const reading = async () => readBody(request, MIB, new BodyBudget().open())
    await expect(reading()).rejects.toMatchObject({ code: 'body_cut_off' })
  })
})
