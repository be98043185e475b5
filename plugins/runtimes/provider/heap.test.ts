/** An answer that came is garbage of the cheap kind. */
import type { Dispatcher } from 'undici'
import { describe, expect, it } from 'vitest'
import { upstream } from '../../../src/contract/index.ts'
import { leftForLong } from '../../../test/support/heap.ts'
import { AnswerHandler } from './answer.ts'
import { SentBody } from './body.ts'

const HEADERS = 50
const CHARACTERS = 100

const controller: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  rawHeaders: null,
  rawTrailers: null,
  pause: () => undefined,
  resume: () => undefined,
  abort: () => undefined,
}

const NO_KEY = { headers: {}, secret: null, isClients: false }
const whyNot = () => upstream('upstream_unreachable', 'not in this test')

describe('an answer that came', () => {
  it('leaves next to nothing that only a collection of the whole heap would free', async () => {
    const left = await leftForLong(
      () =>
        new Promise((resolve, reject) => {
          const { signal } = new AbortController()
          const handler = new AnswerHandler(resolve, reject, signal, 1e6, whyNot, NO_KEY, new SentBody([Buffer.from('{}')]))
          handler.onRequestStart(controller)
          const names = Array.from({ length: HEADERS }, (_, at) => [`x-${at}`, String.fromCharCode(97 + at).repeat(CHARACTERS)])
          handler.onResponseStart(controller, 200, Object.fromEntries(names))
          handler.onResponseData(controller, Buffer.from('{}'))
          handler.onResponseEnd()
        }),
    )
    expect(left).toBeLessThan(HEADERS * CHARACTERS * 0.5)
  })
})
