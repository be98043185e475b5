import { expect, it } from 'vitest'
import { streamed } from './send.ts'
import { callOf } from './testing.ts'

it('an event is made when the reader asks for it, and none after the reader left', async () => {
  const made: number[] = []
  function* frames(): Generator<Uint8Array> {
    for (let at = 0; at < 100; at += 1) {
      made.push(at)
      yield Buffer.from(`data: ${at}\n\n`)
    }
  }
  const chunks = streamed(callOf('chat', {}), frames(), 0, 'req_1').chunks[Symbol.asyncIterator]()
  expect(made).toEqual([])
  await chunks.next()
  await chunks.next()
  expect(made).toEqual([0, 1])
  await chunks.return?.()
  expect(await chunks.next()).toMatchObject({ done: true })
  expect(made).toEqual([0, 1])
})
