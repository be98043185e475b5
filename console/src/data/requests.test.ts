import { describe, expect, it } from 'vitest'
import { charactersIn, freshId, requestPagePath, stepOf, takesRequests } from './requests.ts'
import { chainOf, rowOf, statusWith } from './testing/rows.ts'

describe('a scenario takes requests', () => {
  const learning = { processor: { pending_instructions: 0 } }

  it.each([
    [{ demo: { ...learning, training_mode: 'hybrid' } }, 'yes'],
    [{ demo: { ...learning, training_mode: 'manual' } }, 'yes'],
    [{ demo: { ...learning, training_mode: 'auto' } }, 'after a switch'],
    [{ demo: { processor: {}, training_mode: 'auto' } }, 'never'],
    [{ demo: { error: 'says nothing' } }, null],
    [{}, null],
  ] as const)('%j: %s', (scenarios, takes) => {
    expect(takesRequests(statusWith({ scenarios }), 'demo')).toBe(takes)
  })

  it('or is not known to, before the status is', () => {
    expect([takesRequests(null, 'demo'), takesRequests(statusWith({}), 'constructor')]).toEqual([null, null])
  })
})

it('characters are counted as the service counts them', () => {
  expect([charactersIn(''), charactersIn('é😀'), charactersIn('x'.repeat(4000))]).toEqual([0, 2, 4000])
})

it('a request is found in the row that read it', () => {
  const chain = chainOf(rowOf(0), rowOf(1, { metrics: { training_request: { id: 'r-1' } } }))
  expect(stepOf(chain, 'r-1')?.name).toBe('v1')
  expect(stepOf(chain, 'r-2')).toBeUndefined()
})

it('the page of a request is opened by what the pages of its scenario are opened by', () => {
  expect(requestPagePath(chainOf(rowOf(0)), 'a/b')).toBe('/svc/harness/requests/a%2Fb/page?scenario=demo&key=k')
  expect(requestPagePath(chainOf(), 'a')).toBeNull()
})

it('ids are random UUIDs', () => {
  const ids = Array.from({ length: 50 }, freshId)
  expect(new Set(ids).size).toBe(50)
  for (const id of ids) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/)
})
