/** Which credentials open what a step recorded of held-out tasks, through each route. */
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { ROLES, type JsonObject, type Role } from '../../src/contract/index.ts'
import { readsHeldOut } from '../../src/http/handlers/held-out.ts'
import type { Principal } from '../../src/http/credentials/auth.ts'
import { sharedFolder } from '../support/folder.ts'
import { sharedWorld, type Answer } from '../support/world.ts'
import { bearer, INBOX_RECIPE, named, textAt } from '../spec/support/helpers.ts'
import { fresh, memberOf, type Trainee } from '../spec/support/trainee.ts'

const TOKEN = 'the-token-of-this-test'
const folder = sharedFolder()
const here = sharedWorld({
  headers: bearer(TOKEN),
  settings: {
    'svc.token': TOKEN,
    recipe: INBOX_RECIPE,
    'evolution.proposals_dir': join(folder, 'proposals'),
    'evolution.step_record_dir': join(folder, 'steps'),
  },
})

let s: Trainee
let link = ''
beforeAll(async () => {
  s = await fresh(here)
  const mutations = [{ op: 'create', id: 'more', options: { name: 'rules', config: { text: 'More.' } } }]
  await here.post('/svc/harness/proposals', { mutations, reason: '', session: 's', release_id: 'r' }, named(s.name))
  await s.consumer((await s.reported())[1])
  const { json } = await here.get('/svc/harness/releases', named(s.name))
  const rows = Array.isArray(json['releases']) ? json['releases'] : []
  link = textAt(memberOf({ row: rows.at(-1) ?? {} }, 'row'), 'page_path')
})

const SECRET = /heldout-(?:failure|answer)/
/** Every route that shows a row. */
const ROUTES: readonly (readonly [string, () => string])[] = [
  ['the catalog', () => '/svc/harness/releases'],
  ['a page of the catalog', () => '/svc/harness/releases?limit=10'],
  ['the releases', () => `/svc/scenarios/${s.name}/releases`],
  ['a page of the releases', () => `/svc/scenarios/${s.name}/releases?limit=10`],
  ['the commits', () => `/svc/scenarios/${s.name}/commits`],
  ['the status', () => '/svc/status'],
  ['the page of the version', () => '/svc/harness/releases/1/page'],
]
const RECORDS = ['', '?path=mutations.json', '?path=episodes/candidate-0/episode.json', '?path=episodes/candidate-0/trajectory.jsonl']

const session = (): Record<string, string> => ({ ...named(s.name), 'x-svc-tag-session': 'a-session' })
/** Without the token that the world sends with every request. */
const bare = (path: string, headers: Record<string, string> = {}): Promise<Response> => fetch(`${here.address}${path}`, { headers })
const episodesIn = ({ text }: Answer): string => /"candidate_episodes":\[[^\]]*\]/.exec(text)?.[0] ?? 'none'

describe('words of evaluators about held-out tasks', () => {
  it.each(ROUTES)('are shown to people by %s, and to the session of an agent the name and the score alone', async (_what, path) => {
    const [person, agent] = [await here.get(path(), named(s.name)), await here.get(path(), session())]
    expect([person.status, agent.status]).toEqual([200, 200])
    expect(person.text).toMatch(SECRET)
    expect(agent.text).not.toMatch(SECRET)
    expect(episodesIn(agent)).toBe('"candidate_episodes":[{"task":"gate-1","score":0.25}]')
  })

  it('are not on a page that a key opens, which shows the name and the score', async () => {
    const page = await (await bare(link)).text()
    expect(page).toContain('gate-1')
    expect(page).toContain('0.25')
    expect(page).not.toMatch(SECRET)
  })

  it.each(ROUTES.map(([what, path]) => [what, path] as const))('are shown to nobody without a token by %s', async (_what, path) => {
    const answer = await bare(path(), named(s.name))
    expect([answer.status, SECRET.test(await answer.text())]).toEqual([401, false])
  })
})

const records = (query: string): string => `/svc/harness/releases/1/records${query}`

describe('step records [trust.step-records]', () => {
  it.each(RECORDS)('%j are for people alone', async (query) => {
    const person = await here.get(records(query), named(s.name))
    expect([person.status, person.json['status']]).toEqual([200, 'retained'])
    const key = link.slice(link.indexOf('?') + 1)
    const joined = query === '' ? `?${key}` : `${query}&${key}`
    const answers = [
      (await here.get(records(query), session())).status,
      (await bare(records(query), named(s.name))).status,
      (await bare(records(joined), named(s.name))).status,
      (await bare(records(joined))).status,
      (await bare(records(query), { ...named(s.name), ...bearer('wrong') })).status,
      (await bare(records(joined), { ...named(s.name), ...bearer(TOKEN) })).status,
    ]
    expect(answers).toEqual([401, 401, 401, 401, 401, 401])
  })
})

const holder = (role: Role): Principal => ({
  kind: 'service',
  name: role,
  role,
  scenarios: null,
  expiresAt: null,
  digest: Buffer.alloc(32),
  isStored: true,
  limited: { name: role, key: role, limits: null },
  signIn: null,
})

const reads = (principal: Principal, headers: JsonObject = {}): boolean =>
  readsHeldOut({ principal, request: Object.assign(Object.create(null), { headers }) })

describe('the rule of who reads held-out tasks', () => {
  it.each<readonly [string, Principal, boolean]>([
    ...ROLES.map(
      (role) => [`the holder of a token of the role ${role}`, holder(role), !['serve', 'agent', 'worker'].includes(role)] as const,
    ),
    ['anyone where the service is open', { kind: 'anyone' }, true],
    ['an episode', { kind: 'evaluation', lease: null }, false],
    ['the holder of a page key', { kind: 'page', role: 'admin', life: null }, false],
  ])('%s', (_who, principal, may) => {
    expect(reads(principal)).toBe(may)
    expect(reads(principal, { 'x-svc-tag-session': 's' })).toBe(false)
    expect(reads(principal, { 'x-svc-tag-session': '' })).toBe(false)
  })
})
