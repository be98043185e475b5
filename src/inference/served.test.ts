/** Who is served the provisional release, and who the head. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { releaseFor } from './served.ts'

const release = (id: string) => ({ release_id: id, parent_release_id: null, content_id: id })
const [head, unproven] = [release('head'), release('unproven')]
const offering = (share: number) => ({ head: () => head, provisional: { release: unproven, share } })
const sessions = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `session ${n}`)

describe('without a provisional release', () => {
  it('everyone is served the head, whatever they ask for', () => {
    for (const scenario of [{ head: () => head }, { head: () => head, provisional: null }])
      expect(releaseFor(scenario, { tags: { session: 's', release: 'unproven' }, takesProvisional: true })).toBe(head)
  })
})

describe('with one', () => {
  it('is served to those who ask for it, and never to those who refuse it', () => {
    expect(releaseFor(offering(0), { tags: {}, takesProvisional: true })).toBe(unproven)
    expect(releaseFor(offering(1), { tags: { session: 's' }, takesProvisional: false })).toBe(head)
    expect(releaseFor(offering(1), { tags: { release: 'unproven' }, takesProvisional: false })).toBe(head)
  })

  it('is served to about the share of sessions, always the same ones', () => {
    const drawn = sessions(2000).filter((session) => releaseFor(offering(0.1), { tags: { session } }) === unproven)
    expect(drawn.length).toBeGreaterThan(130)
    expect(drawn.length).toBeLessThan(270)
    for (const session of drawn) expect(releaseFor(offering(0.2), { tags: { session } })).toBe(unproven)
    expect(sessions(50).every((session) => releaseFor(offering(0), { tags: { session } }) === head)).toBe(true)
    expect(sessions(50).every((session) => releaseFor(offering(1), { tags: { session } }) === unproven)).toBe(true)
  })

  it('is not served to a call without a session', () => {
    expect(releaseFor(offering(1), { tags: {} })).toBe(head)
  })

  it('moves no client that holds a release: one that pins another is never in the canary', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.double({ min: 0, max: 1, noNaN: true }), (session, held, share) => {
        expect(releaseFor(offering(share), { tags: { session, release: held } })).toBe(held === 'unproven' ? unproven : head)
      }),
    )
  })
})
