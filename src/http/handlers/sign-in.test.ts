/** Where a person may return to after signing in. */
import { expect, it } from 'vitest'
import { returnAddress } from './sign-in.ts'

it.each([
  '/console',
  '/console#/scenarios/a%20b/releases',
  '/console?a=b',
  '/svc/harness/releases/3/page?scenario=s',
  '/svc/harness/requests/01JABC/page?scenario=a%2Bb',
])('%s is returned to', (wanted) => {
  expect(returnAddress(wanted)).toBe(wanted)
})

it.each([
  '',
  '/',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  'https://evil.example',
  'http:evil.example',
  'javascript:alert(1)',
  'console',
  ' /console',
  '/console\\@evil.example',
  '/console@evil.example',
  '/console.evil.example',
  '/console//evil.example',
  '/console\r\nset-cookie: a=b',
  '/console?a\r\nb',
  '/console?a\u0000b',
  '/console#\u202eb',
  '/console\n',
  '/%5cevil.example',
  '/svc/sign-in/start',
  '/svc/scenarios',
  '/svc/harness/releases/0/page/../../../../../..//evil.example',
  '/svc/harness/releases//page',
])('%j leads to the console instead', (wanted) => {
  expect(returnAddress(wanted)).toBe('/console')
})

it('an endless address and none at all lead to the console', () => {
  expect(returnAddress(`/console?${'a'.repeat(5000)}`)).toBe('/console')
  expect(returnAddress(null)).toBe('/console')
})
