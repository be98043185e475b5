/** Which credentials may be guesses, and which are told of as wrong. */
import { createHmac, hash } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import type { StoredToken } from '../../contract/index.ts'
import { Authenticator, credentialsOf } from './auth.ts'

const PAGE = { access: 'page', right: null } as const
const SERVICE = { access: 'service', right: null } as const

const bearer = (token: string) => credentialsOf('', { authorization: `Bearer ${token}` })
const page = (key: string) => credentialsOf(new URLSearchParams({ scenario: 's', key }).toString(), {})
const keyOf = (token: string): string =>
  createHmac('sha256', hash('sha256', token, 'buffer'))
    .update('svc-page\ns')
    .digest('hex')
const stored = (name: string, secret: string): StoredToken => ({
  name,
  role: 'read',
  scenarios: null,
  created_at: 0,
  created_by: '',
  expires_at: null,
  digest: hash('sha256', secret),
})
const opened = (): Authenticator => new Authenticator({ token: 'first', tokens: ['second'] }, 'evaluation', () => 0)

it('a token of the configuration is strange until it was accepted, and known as long as it is in force', () => {
  const auth = opened()
  expect(auth.areStrange(bearer('first'))).toBe(true)
  auth.admit(SERVICE, bearer('first'))
  auth.use([stored('made', 'secret')])
  auth.configure({ token: 'first', tokens: [] })
  expect(auth.areStrange(bearer('first'))).toBe(false)
  auth.configure({ token: 'third', tokens: [] })
  expect(auth.areStrange(bearer('first'))).toBe(true)
  expect(() => auth.admit(SERVICE, bearer('first'))).toThrow(/not one this service accepts/)
})

it('a token that was made is never strange while it is in force, and what it may do is what was said last', () => {
  const auth = opened()
  auth.use([stored('made', 'secret')])
  expect(auth.areStrange(bearer('secret'))).toBe(false)
  auth.admit(SERVICE, bearer('secret'))
  auth.use([{ ...stored('made', 'secret'), role: 'serve' }])
  expect(auth.admit(SERVICE, bearer('secret'))).toMatchObject({ name: 'made', role: 'serve' })
  auth.use([])
  expect(auth.areStrange(bearer('secret'))).toBe(true)
  expect(() => auth.admit(SERVICE, bearer('secret'))).toThrow(/not one this service accepts/)
})

it('page keys of guessed tokens are strange and told of as wrong; those of tokens that were made are not', () => {
  const auth = opened()
  auth.use([stored('made', 'secret')])
  const isWrong = vi.fn()
  expect(auth.areStrange(page(keyOf('guess')))).toBe(true)
  expect(() => auth.admit(PAGE, page(keyOf('guess')), isWrong)).toThrow(/opens no page/)
  expect(isWrong).toHaveBeenCalledOnce()
  expect(auth.admit(PAGE, page(keyOf('first')), isWrong)).toEqual({ kind: 'page', role: 'admin', life: null })
  expect(auth.areStrange(page(`made.${keyOf('secret')}`))).toBe(false)
  expect(() => auth.admit(PAGE, page(`made.${keyOf('guess')}`), isWrong)).toThrow(/opens no page/)
  expect(isWrong).toHaveBeenCalledOnce()
})

it('no credentials, those of the evaluation and those of an open service are not strange', () => {
  const auth = opened()
  for (const credentials of [credentialsOf('', {}), credentialsOf('scenario=s', {}), bearer('evaluation')])
    expect(auth.areStrange(credentials)).toBe(false)
  expect(new Authenticator({ token: null, tokens: [] }, 'evaluation', () => 0).areStrange(bearer('any'))).toBe(false)
})
