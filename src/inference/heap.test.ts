/** An exchange that is over is garbage of the cheap kind. */
import { describe, expect, it } from 'vitest'
import { leftForLong } from '../../test/support/heap.ts'
import { BytePieces } from '../kit/index.ts'
import { outlinedBody } from './request-body.ts'
import { serve } from './serve.ts'
import { callOf, servingOf } from './testing/scenario.ts'

const MEMBERS = 1000
const BYTES = 8 * MEMBERS

describe('an exchange that is over', () => {
  it('leaves next to nothing that only a collection of the whole heap would free', async () => {
    const body = Buffer.from('{"model":"m"}')
    const { scenario } = servingOf(() => Promise.resolve({ kind: 'whole', status: 200, headers: {}, body: Buffer.from('{}') }), {
      keep: () => Promise.resolve(),
    })
    const left = await leftForLong(() => {
      // Held by the request, as long as anything holds that.
      const facts = { model: 'm', held: Array.from({ length: MEMBERS }, (_, at) => at) }
      const request = outlinedBody(new BytePieces([body]), { facts, kept: [{ start: 1, end: body.length - 1 }], tagged: new Map() })
      return serve(scenario, callOf({ request }))
    })
    expect(left).toBeLessThan(BYTES * 0.5)
  })
})
