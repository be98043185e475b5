/** Who may read the texts of held-out tasks. */
import { expect, it } from 'vitest'
import { ROLES, type Role } from '../../contract/index.ts'
import { readsHeldOut } from './held-out.ts'

type Asked = Parameters<typeof readsHeldOut>[0]

const asked = (principal: Asked['principal'], headers: Asked['request']['headers'] = {}): boolean =>
  readsHeldOut({ principal, request: { headers } })

it.each(ROLES)('a link that a token of the role %s made opens them for the role review alone', (role: Role) => {
  expect(asked({ kind: 'page', role, life: null })).toBe(role === 'review')
})

it('the session of an agent never reads them, whatever it presents', () => {
  const session = { 'x-svc-tag-session': 's' }
  expect(asked({ kind: 'page', role: 'review', life: null }, session)).toBe(false)
  expect(asked({ kind: 'anyone' }, session)).toBe(false)
  expect(asked({ kind: 'evaluation', lease: null })).toBe(false)
})
