import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Entry, Json, JsonObject, Proposals } from '../../contract/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { contentOf } from '../../harness/index.ts'
import { native } from '../../harness/testing/adapters.ts'
import { FolderDocuments } from '../../kit/index.ts'
import { Inbox, openProposals } from './inbox.ts'

const HEAD = { release_id: 'head', parent_release_id: null, content_id: 'content' }
const TREE: readonly Entry[] = [{ id: 'tone', name: 'rules', config: { text: 'Be brief.' } }]
/** Keeps a parser busy for hours. */
const ENDLESS = `let a = ${'async<T>(a='.repeat(30)}1${')'.repeat(30)}`

let folder: string
let proposals: Proposals
beforeEach(() => {
  folder = temporaryFolder()
  proposals = opened(null)
})

const opened = (problem: string | null): Proposals =>
  openProposals({
    inbox: new Inbox(new FolderDocuments(folder), 2),
    adapter: native,
    problem: async () => problem,
    read: async () => contentOf(native, TREE),
  })

const body = (mutations: Json, more: JsonObject = {}): JsonObject => ({ mutations, reason: 'why', session: 's', release_id: 'r', ...more })
const remove = body([{ op: 'remove', id: 'tone' }])
const rule = (id: string): JsonObject => ({ op: 'create', id, options: { name: 'rules', config: { text: 'More.' } } })
const tool = (code: string, id = 'tool'): JsonObject => ({
  op: 'create',
  id,
  options: { name: 'native_tool', config: { name: id, description: 'd', code } },
})

it('takes none where nothing that strangers wrote is played, and says why', async () => {
  expect(await opened('there is no sandbox').offer(remove, HEAD)).toMatchObject({ admitted: false, reason: 'there is no sandbox' })
  expect(await proposals.offer(remove, HEAD)).toMatchObject({ admitted: true })
})

describe('a proposal', () => {
  it('that may be made is kept with what was looked at, and nothing else', async () => {
    const options = { name: 'rules', config: { text: 'More.' } }
    const mutations = [
      { op: 'create', id: 'more', options, note: 'unseen' },
      { op: 'update', id: 'tone', options: { disabled: true } },
      { op: 'remove', id: 'more', options: null },
    ]
    const answer = await proposals.offer(body(mutations, { other: 'unseen' }), HEAD)
    expect(answer).toEqual({ proposal_id: expect.any(String), admitted: true, reason: null, release_id: 'head' })
    const text = await readFile(join(folder, `${answer.proposal_id}.json`), 'utf8')
    expect(JSON.parse(text)).toMatchObject({
      mutations: [
        { op: 'create', id: 'more', options },
        { op: 'update', id: 'tone', options: { disabled: true } },
        { op: 'remove', id: 'more' },
      ],
      head_release_id: 'head',
    })
    expect(text).not.toContain('unseen')
  })

  it.each<[string, JsonObject, string]>([
    ['without mutations', body(null), 'mutations must be a list'],
    ['with an empty list', body([]), 'mutations must be a list'],
    ['with too many', body(Array.from({ length: 65 }, (_, index) => rule(`e${index}`))), 'mutations must be a list of 1 to 64'],
    ['with a mutation without op', body([{ id: 'a' }]), 'mutations[0].op'],
    ['with a mutation whose id is no text', body([{ op: 'remove', id: 7 }]), 'mutations[0].id'],
    ['with options that are no object', body([{ op: 'create', id: 'a', options: 'x' }]), 'mutations[0].options'],
    ['with an unknown op', body([{ op: 'replace', id: 'tone' }]), 'mutations[0].op must be create, update or remove'],
    ['with a create without options', body([{ op: 'create', id: 'a' }]), 'mutations[0].options must be an object'],
    ['with options on a remove', body([{ op: 'remove', id: 'tone', options: {} }]), 'mutations[0].options must be left out'],
    ['without a session', body([rule('a')], { session: null }), 'session'],
    ['with a blank session', body([rule('a')], { session: ' ' }), 'session'],
    ['without the release it runs', body([rule('a')], { release_id: 7 }), 'release_id'],
    ['whose reason is no text', body([rule('a')], { reason: {} }), 'reason'],
    ['whose reason is an essay', body([rule('a')], { reason: 'x'.repeat(4001) }), 'reason'],
    ['of more than 1 MiB', body([rule('a')], { other: 'x'.repeat(1024 * 1024) }), '1048576 bytes'],
  ])('%s is none', async (_, sent, named) => {
    const refusal = { kind: 'invalid', code: 'bad_proposal', message: expect.stringContaining(named) }
    await expect(proposals.offer(sent, HEAD)).rejects.toMatchObject(refusal)
  })

  it.each<[string, JsonObject, string]>([
    ['an id that is missing', body([{ op: 'remove', id: 'other' }]), 'there is no entry other to remove'],
    ['an id that exists', body([rule('tone')]), 'exists already'],
    ['another kind', body([{ op: 'update', id: 'tone', options: { name: 'skill' } }]), 'is of kind rules and stays so'],
    ['a kind that is not rendered', body([{ op: 'create', id: 'a', options: { name: 'code_extension', config: {} } }]), 'renders'],
    ['a bad config', body([{ op: 'create', id: 'a', options: { name: 'rules', config: { text: '' } } }]), 'config.text'],
    ['a reserved id', body([rule('svc-requests')]), 'is reserved for the service'],
    ['code that does not parse', body([tool('let ='), rule('a')]), 'config.code must parse'],
    ['a credential in its reason', body([rule('a')], { reason: `sk-${'a1'.repeat(10)}` }), 'reason holds what looks like a credential'],
  ])('with %s is answered with the rule, and not kept', async (_, sent, reason) => {
    const answer = await proposals.offer(sent, HEAD)
    expect(answer).toMatchObject({ admitted: false, reason: expect.stringContaining(reason), release_id: 'head' })
    expect(answer.reason).not.toContain('sk-')
    expect(await readdir(folder)).toEqual([])
  })

  it('finds the inbox full', async () => {
    for (const id of ['a', 'b']) expect(await proposals.offer(body([rule(id)]), HEAD)).toMatchObject({ admitted: true })
    expect(await proposals.offer(remove, HEAD)).toMatchObject({ admitted: false, reason: 'inbox full' })
  })

  it('with code that keeps a parser busy delays no other request, and is refused', async () => {
    let isAnswered = false
    const answer = proposals.offer(body([tool(ENDLESS)]), HEAD).finally(() => {
      isAnswered = true
    })
    for (let turns = 0; turns < 20; turns += 1) await turn()
    expect(isAnswered).toBe(false)
    expect(await answer).toMatchObject({ admitted: false, reason: expect.stringContaining('config.code must parse') })
    expect(await proposals.offer(body([tool('export const run = (a: string) => a')]), HEAD)).toMatchObject({ admitted: true })
  })

  it('names the first of its codes that does not parse, and asks about none after it', async () => {
    const answer = await proposals.offer(body([tool('let a', 'one'), tool('let =', 'two'), tool('const =', 'three')]), HEAD)
    expect(answer.reason).toMatch(/^two:/)
  })
})
