/** The keys of signing in: what is refused, and in which words. */
import { expect, it } from 'vitest'
import { problemsOf } from './testing/reading.ts'

const GOOD = {
  issuer: 'https://login.example.com/realms/staff/',
  client_id: 'svc',
  public_url: 'https://svc.example.com/',
  groups: { '/staff/admins': { role: 'admin' }, 'a.b c': { role: 'agent', scenarios: ['s'] } },
}
const problemsWith = (changes: object, svc: object = { token: 'a-token' }): readonly string[] =>
  problemsOf({ text: JSON.stringify({ svc: { ...svc, sign_in: { ...GOOD, ...changes } } }), environment: {} })

it('a whole section is taken, with groups of any name', () => {
  expect(problemsWith({})).toEqual([])
  expect(problemsWith({ issuer: 'http://127.0.0.1:9000', public_url: 'http://localhost:8900' })).toEqual([])
})

it.each<readonly [changes: object, problem: RegExp]>([
  [{ issuer: 'login.example.com' }, /svc\.sign_in\.issuer must be a whole URL such as https/],
  [{ issuer: 'http://login.example.com' }, /svc\.sign_in\.issuer must start with https:\/\/; http:\/\/ is for this machine alone/],
  [{ issuer: 'https://user:secret@login.example.com' }, /svc\.sign_in\.issuer must not hold credentials/],
  [{ public_url: 'http://svc.example.com' }, /svc\.sign_in\.public_url must start with https:\/\//],
  [{ public_url: 'https://svc.example.com/console' }, /svc\.sign_in\.public_url must have no path/],
  [{ client_id: '' }, /svc\.sign_in\.client_id must not be empty/],
  [{ client_id: undefined }, /svc\.sign_in\.client_id is missing/],
  [{ groups: undefined }, /svc\.sign_in\.groups is missing/],
  [{ groups: {} }, /svc\.sign_in\.groups is missing/],
  [{ groups: { a: { role: 'root' } } }, /role must be one of admin, review, serve, agent, read/],
  [{ groups: { a: { role: 'agent' } } }, /role agent is for the scenarios that it names; set scenarios/],
  [{ groups: { a: { role: 'admin', scenarios: ['s'] } } }, /scenarios must be left out: the role admin is for the whole deployment/],
  [{ groups: { a: { role: 'read', scenarios: [] } } }, /must name a scenario; leave it out for all of them/],
  [{ scopes: ['email'] }, /svc\.sign_in\.scopes must hold openid/],
  [{ scopes: ['openid', 'a b'] }, /must be a scope without blanks/],
  [{ hours: 0 }, /svc\.sign_in\.hours must be a whole number of hours from 1 to 720/],
  [{ name: 'x'.repeat(41) }, /svc\.sign_in\.name must have at most 40 characters/],
])('%j is refused in one line', (changes, problem) => {
  const problems = problemsWith(changes)
  expect(problems).toHaveLength(1)
  expect(problems[0]).toMatch(problem)
  expect(problems[0]).not.toContain('secret@')
})

it('needs a token: without one everybody is let in', () => {
  expect(problemsWith({}, {})).toEqual([expect.stringMatching(/svc\.sign_in is set and no token is.*; set svc\.token \(or SVC_TOKEN\)$/)])
})
