import { ServiceFailure } from '@svc-ai/client'
import { expect, it } from 'vitest'
import { saidOf } from './failure.ts'

it('a service that does not answer is reported, with what to do', () => {
  const said = saidOf(new ServiceFailure('the service cannot be reached (Failed to fetch)', { code: 'unreachable' }))
  expect(said).toEqual({ line: expect.stringContaining('svc serve'), isSignedOut: false, status: null })
})

it.each(['timeout', 'broken_answer'])('a service that answers badly (%s) is not reported as gone', (code) => {
  expect(saidOf(new ServiceFailure('gave no whole answer within 60 s: is it busy or stuck?', { code })).line).toContain('busy or stuck')
})

it('a token that is not accepted leads back to the sign-in; any other refusal keeps its own words', () => {
  expect(saidOf(new ServiceFailure('no', { status: 401, code: 'unauthorized' }))).toMatchObject({ isSignedOut: true, status: 401 })
  for (const code of ['role_forbids', 'other_scenario'])
    expect(saidOf(new ServiceFailure('not this', { status: 401, code }))).toEqual({ line: 'not this', isSignedOut: false, status: 401 })
  const refused = new ServiceFailure('the service answered 409: held', { status: 409, code: 'held' })
  expect(saidOf(refused)).toEqual({ line: 'the service answered 409: held', isSignedOut: false, status: 409 })
})

it('a failure within the page is not blamed on the service', () => {
  expect(saidOf(new TypeError('x is undefined'))).toEqual({
    line: 'The console failed. Reload the page.',
    isSignedOut: false,
    status: null,
  })
})
