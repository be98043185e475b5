/** Changes that agents propose by themselves: their shape, what is admitted, and their outcome. */
import { globSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/contract/index.ts'
import { sharedFolder, temporaryFolder } from '../support/folder.ts'
import { ownWorld, sharedWorld, type Answer } from '../support/world.ts'
import { bearer, expectRefusal, INBOX_RECIPE, named, scenarioNames, textAt } from './support/helpers.ts'
import { fresh, type Trainee } from './support/trainee.ts'

const folder = sharedFolder()
const here = sharedWorld({
  backend: 'sqlite',
  settings: {
    recipe: INBOX_RECIPE,
    'evolution.seed': JSON.stringify([{ id: 'tone', name: 'rules', config: { text: 'Be brief.' } }]),
    'evolution.adapter': 'native',
    'evolution.max_pending_proposals': 3,
    'evolution.proposals_dir': join(folder, 'proposals'),
    'evolution.step_record_dir': join(folder, 'steps'),
  },
})

const rule = (id: string): JsonObject => ({ op: 'create', id, options: { name: 'rules', config: { text: `Rule ${id}.` } } })
const bodyOf = (mutations: Json, more: JsonObject = {}): JsonObject => ({
  mutations,
  reason: 'people asked for it',
  session: 'session-1',
  release_id: 'r',
  ...more,
})
const propose = ({ name }: Trainee, mutations: Json, more: JsonObject = {}): Promise<Answer> =>
  here.post('/svc/harness/proposals', bodyOf(mutations, more), named(name))
const settledIn = (id: string): readonly string[] => globSync(join(folder, 'proposals', '*', 'settled', `${id}.json`))

describe('a proposal', () => {
  let plain: Trainee
  beforeAll(async () => {
    plain = await fresh(here)
  })

  it('is answered with its id and the head it was admitted against [proposal.answer]', async () => {
    const s = await fresh(here)
    const { release_id } = await s.head()
    const { status, json } = await propose(s, [rule('more')])
    const proposal_id: unknown = expect.stringMatching(/^\d{20}-[0-9a-f]{8}$/)
    expect({ status, json }).toEqual({ status: 200, json: { proposal_id, admitted: true, reason: null, release_id } })
  })

  it.each<[string, string | JsonObject]>([
    ['that is no JSON', '['],
    ['that is no object', '[]'],
    ['without mutations', bodyOf(null)],
    ['with an empty list of mutations', bodyOf([])],
    ['with a mutation that has no op', bodyOf([{ id: 'a' }])],
    ['with a mutation whose id is no text', bodyOf([{ op: 'remove', id: 1 }])],
    ['with options that are no object', bodyOf([{ op: 'create', id: 'a', options: [] }])],
    ['with an op that is none', bodyOf([{ op: 'replace', id: 'tone' }])],
    ['that creates without options', bodyOf([{ op: 'create', id: 'a' }])],
    ['that creates without a config', bodyOf([{ op: 'create', id: 'a', options: { name: 'rules' } }])],
    ['that updates without options', bodyOf([{ op: 'update', id: 'tone', options: null }])],
    ['that names a kind by a number', bodyOf([{ op: 'update', id: 'tone', options: { name: 1 } }])],
    ['that removes with options', bodyOf([rule('fine'), { op: 'remove', id: 'tone', options: {} }])],
    ['without a session', bodyOf([rule('a')], { session: null })],
    ['without a release', bodyOf([rule('a')], { release_id: null })],
    ['whose reason is no text', bodyOf([rule('a')], { reason: 1 })],
    ['of more than 1 MiB', bodyOf([rule('a')], { more: 'x'.repeat(1024 * 1024) })],
  ])('%s is 400 [proposal.shape]', async (_, body) => {
    const answer = await here.post('/svc/harness/proposals', body, named(plain.name))
    expectRefusal(answer, 400, typeof body === 'string' ? 'malformed_json' : 'bad_proposal')
  })

  it.each<[string, Json, string]>([
    ['creates what exists', rule('tone'), 'tone exists already'],
    ['updates what is missing', { op: 'update', id: 'other', options: {} }, 'there is no entry other to update'],
    ['changes a kind', { op: 'update', id: 'tone', options: { name: 'skill' } }, 'tone is of kind rules and stays so'],
    ['removes what is missing', { op: 'remove', id: 'other' }, 'there is no entry other to remove'],
    ['breaks the rule of a kind', { op: 'create', id: 'a', options: { name: 'rules', config: {} } }, 'config.text'],
    ['is of a kind that is not rendered', { op: 'create', id: 'a', options: { name: 'agent_command', config: {} } }, 'native renders'],
    [
      'makes a tree that does not render',
      { op: 'create', id: 'a', options: { name: 'native_agent', config: { name: 'a', prompt: 'p', tools: ['nowhere'] } } },
      'names nowhere',
    ],
    ['touches svc-version-check', rule('svc-version-check'), 'is reserved for the service'],
    ['touches svc-requests', { op: 'remove', id: 'svc-requests' }, 'is reserved for the service'],
    ['touches svc-pi-extension-api', { op: 'update', id: 'svc-pi-extension-api', options: {} }, 'is reserved for the service'],
  ])('that %s is not admitted, and the reason names the rule [proposal.rule-1]', async (_, mutation, reason) => {
    const { release_id } = await plain.head()
    expect(await propose(plain, [rule('fine'), mutation])).toMatchObject({
      status: 200,
      json: { proposal_id: expect.any(String), admitted: false, reason: expect.stringContaining(reason), release_id },
    })
  })

  it('waits until a step takes it, the oldest first, and the row that settles it names it [proposal.rule-2]', async () => {
    const s = await fresh(here)
    const ids = []
    for (const id of ['one', 'two']) ids.push(textAt((await propose(s, [rule(id)])).json, 'proposal_id'))
    expect(await s.rows()).toEqual([])
    for (const [index, id] of ids.entries()) {
      await s.consumer((await s.reported())[1])
      const { proposal } = await s.release()
      expect(proposal).toEqual({ id, session: 'session-1', release_id: 'r', reason: 'people asked for it' })
      expect(JSON.stringify((await here.get('/svc/harness', named(s.name))).json['files'])).toContain(
        index === 0 ? 'Rule one.' : 'Rule two.',
      )
    }
    await s.consumer((await s.reported())[1])
    expect(await s.release()).toMatchObject({ result: 'skipped' })
    const [file = ''] = settledIn(ids[0] ?? '')
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ settled: { step: 1, selected: true, reason: 'taken' } })
  })

  it('is looked at again by the step that takes it: of two against one head the second loses [proposal.rule-2]', async () => {
    const s = await fresh(here)
    for (const reason of ['first', 'second']) await propose(s, [rule('same')], { reason })
    for (let step = 0; step < 2; step += 1) await s.consumer((await s.reported())[1])
    expect(await s.release()).toMatchObject({
      result: 'skipped',
      skipped: expect.stringContaining('same exists already'),
      proposal: { reason: 'second' },
    })
  })

  it('finds the inbox full once max_pending_proposals wait, also when many come at once [proposal.rule-3] [limits.proposals]', async () => {
    const s = await fresh(here)
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => propose(s, [rule(`e${index}`)])))
    const refused = answers.filter(({ json }) => json['admitted'] === false)
    expect(refused.map(({ json }) => json['reason'])).toEqual(Array.from({ length: 5 }, () => 'inbox full'))
    await s.consumer((await s.reported())[1])
    expect((await propose(s, [rule('next')])).json).toMatchObject({ admitted: true })
  })

  it('is not taken in manual mode, and is in the others [proposal.rule-3]', async () => {
    const s = await fresh(here, 'manual')
    const { release_id } = await s.head()
    expect(await propose(s, [rule('more')])).toMatchObject({
      status: 200,
      json: { proposal_id: expect.any(String), admitted: false, reason: 'manual mode takes instructions only', release_id },
    })
    await s.useMode('hybrid')
    expect((await propose(s, [rule('more')])).json).toMatchObject({ admitted: true })
  })

  it('for a scenario that does not exist is 404, and creates nothing', async () => {
    expectRefusal(await here.post('/svc/harness/proposals', bodyOf([rule('a')]), named('unheard')), 404, 'unknown_scenario')
    expect(await scenarioNames(here)).not.toContain('unheard')
  })

  it('that the disk does not take is 503, and the service goes on', async () => {
    const lost = await ownWorld({
      settings: {
        recipe: INBOX_RECIPE,
        'evolution.proposals_dir': join(folder, 'file', 'below'),
        'evolution.step_record_dir': join(folder, 'steps'),
      },
    })
    await writeFile(join(folder, 'file'), 'in the way')
    const s = await fresh(lost)
    expectRefusal(await lost.post('/svc/harness/proposals', bodyOf([rule('a')]), named(s.name)), 503, 'inbox_failed')
    expect((await lost.get('/healthz')).status).toBe(200)
  })
})

it('a crash loses no waiting proposal, and returns one that a step had claimed without a row [proposal.rule-2]', async () => {
  const s = await fresh(here)
  const id = textAt((await propose(s, [rule('kept')])).json, 'proposal_id')
  const [pending = ''] = globSync(join(folder, 'proposals', '*', `${id}.json`))
  await mkdir(join(dirname(pending), 'claimed'))
  await rename(pending, join(dirname(pending), 'claimed', `${id}.json`))
  await here.restart()
  await s.consumer((await s.reported())[1])
  expect(await s.release()).toMatchObject({ result: 'published', proposal: { id } })
})

it('of a token that was made is kept with its name and role, by which the step holds it [access.agent-asks]', async () => {
  const place = temporaryFolder()
  const there = await ownWorld({
    settings: {
      'svc.token': 'admin-token-of-the-test',
      recipe: INBOX_RECIPE,
      'evolution.adapter': 'native',
      'evolution.proposals_dir': join(place, 'proposals'),
      'evolution.step_record_dir': join(place, 'steps'),
    },
    headers: bearer('admin-token-of-the-test'),
  })
  await there.post('/svc/scenarios', { name: 'own' })
  const made = await there.post('/svc/tokens', { name: 'laptop', role: 'agent', scenarios: ['own'] })
  const own = { ...bearer(textAt(made.json, 'token')), ...named('own') }
  const { json } = await there.post('/svc/harness/proposals', bodyOf([rule('more')]), own)
  const [file = ''] = globSync(join(place, 'proposals', '**', `${textAt(json, 'proposal_id')}.json`))
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ asked_by: { token: 'laptop', role: 'agent' } })
})
