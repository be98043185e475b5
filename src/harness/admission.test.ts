import { describe, expect, it, onTestFinished } from 'vitest'
import { PROPOSAL_MUTATIONS_MAX, type Entry, type Json, type JsonObject, type Mutation } from '../contract/index.ts'
import { admit, admitBeside, parseMutations } from './admission.ts'
import { before, native, NOTICE, plain, sentMutations } from './testing/adapters.ts'

const KEY = `sk-${'a1'.repeat(10)}`
const TREE: readonly Entry[] = [
  { id: 'tone', name: 'rules', config: { text: 'Be brief.' } },
  { id: 'style', name: 'skill', config: { name: 'style', text: 'a' }, disabled: true },
  NOTICE,
]
const options = { name: 'rules', config: { text: 'More.' } }
const create = (id: string, more: Json = options): JsonObject => ({ op: 'create', id, options: more })
const update = (id: string, more: Json = options): JsonObject => ({ op: 'update', id, options: more })
const remove = (id: string): JsonObject => ({ op: 'remove', id })

describe('mutations are admitted', () => {
  it('one after the other: created at the end, changed in place, removed', () => {
    const admitted = admit(plain, TREE, [
      { op: 'create', id: 'more', options },
      { op: 'update', id: 'tone', options: { name: 'rules', config: { text: 'Be long.' }, disabled: true } },
      { op: 'remove', id: 'style' },
      { op: 'create', id: 'style', options: { name: 'agent_command', config: { name: 'style', text: 'b' }, disabled: false } },
    ])
    expect(admitted).toEqual({
      admitted: true,
      entries: [
        { id: 'tone', name: 'rules', config: { text: 'Be long.' }, disabled: true },
        NOTICE,
        { id: 'more', ...options },
        { id: 'style', name: 'agent_command', config: { name: 'style', text: 'b' } },
      ],
    })
  })

  it('with what an update leaves out kept as it was', () => {
    const mutations = parseMutations([{ op: 'update', id: 'style', options: { disabled: false } }])
    const admitted = admit(plain, TREE, mutations)
    expect(admitted).toMatchObject({
      admitted: true,
      entries: [{ id: 'tone' }, { id: 'style', name: 'skill', config: { text: 'a' } }, NOTICE],
    })
    expect(admitted).not.toMatchObject({ entries: [{}, { disabled: true }, {}] })
  })
})

describe('mutations are refused', () => {
  it.each<[string, Json, string]>([
    ['of a reserved id: create', create('svc-requests'), 'mutations[0]: svc-requests is reserved for the service'],
    ['of a reserved id: update', update('svc-version-check'), 'mutations[0]: svc-version-check is reserved'],
    ['of a reserved id: remove', remove('svc-pi-extension-api'), 'mutations[0]: svc-pi-extension-api is reserved'],
    ['in a group', create('tone', { ...options, group: 'x' }), 'mutations[0].options: group must not be set'],
    ['with a config that is none', create('tone', { ...options, config: 'x' }), 'mutations[0].options: config must be an object'],
    ['with an unknown field', create('n', { ...options, [KEY]: 1 }), 'mutations[0].options: holds an unknown field'],
    ['that create what is there', create('tone'), 'mutations[0]: tone exists already'],
    ['that create nothing', { op: 'create', id: 'n' }, "mutations[0].options must hold the new entry's name and config"],
    ['that create without a config', create('n', { name: 'rules' }), "mutations[0].options must hold the new entry's"],
    ['that update what is not there', update('n'), 'mutations[0]: there is no entry n to update'],
    ['that update nothing', update('tone', null), 'mutations[0].options must hold what is to change'],
    ['that change the kind', update('style'), 'mutations[0]: style is of kind skill and stays so'],
    ['that remove what is not there', remove('n'), 'mutations[0]: there is no entry n to remove'],
    ['that remove with options', { op: 'remove', id: 'tone', options: {} }, 'mutations[0].options must be left out'],
    ['that do something else', { op: 'rename', id: 'tone' }, 'mutations[0].op must be create, update or remove'],
    ['of an id of another shape', create('a b'), 'mutations[0].id must start with'],
    ['of an id that is a key', remove(KEY), 'mutations[0].id looks like a credential'],
    ['that break a rule of the kind', create('n', { name: 'rules', config: {} }), 'n: config.text must be non-blank text'],
    ['of a kind the agent has not', create('n', { name: 'native_loop', config: {} }), 'n: name must be a kind that plain renders'],
    ['that update to a broken rule', update('tone', { name: 'rules', config: { text: KEY } }), 'tone: config.text holds what looks'],
    ['that do not render', create('n', { name: 'rules', config: { text: '---' } }), 'rules have no front matter'],
    [
      'that take the name of a shipped entry',
      create('n', { name: 'code_extension', config: { name: 'SVC-notice', code: '1' } }),
      'n: config.name must be another',
    ],
  ])('%s', (_, mutation, reason) => {
    const admitted = admit(plain, TREE, parseMutations([mutation]))
    expect(admitted).toEqual({ admitted: false, reason: expect.stringContaining(reason) })
    expect(JSON.stringify(admitted)).not.toContain(KEY)
  })

  it('all of them when one is bad', () => {
    const tree = structuredClone(TREE)
    const mutations = parseMutations([create('more'), remove('more'), remove('more')])
    expect(admit(plain, tree, mutations)).toEqual({ admitted: false, reason: 'mutations[2]: there is no entry more to remove' })
    expect(tree).toEqual(TREE)
  })

  it('when something that stays needs what goes', () => {
    const tree: Entry[] = [
      { id: 'critic', name: 'native_agent', config: { name: 'critic', prompt: 'p' } },
      { id: 'writer', name: 'native_agent', config: { name: 'writer', prompt: 'p', ...before('critic') } },
    ]
    const gone = admit(native, tree, parseMutations([remove('critic')]))
    expect(gone).toEqual({ admitted: false, reason: expect.stringContaining('writer: config.then names critic,') })
    const off = admit(native, tree, parseMutations([update('critic', { disabled: true })]))
    expect(off).toEqual(gone)
  })

  it('but a bug of an adapter is not taken for a refusal', () => {
    const broken = { ...plain, finish: () => expect.fail('a bug') }
    expect(() => admit(broken, [], parseMutations([create('n')]))).toThrow('a bug')
  })
})

describe('a list of mutations is malformed', () => {
  it.each<[string, Json, string]>([
    ['when it is none', { op: 'create' }, 'mutations must be a list of 1 to 64'],
    ['when it is empty', [], 'mutations must be a list of 1 to 64'],
    [
      'when it is too long',
      Array.from({ length: PROPOSAL_MUTATIONS_MAX + 1 }, () => ({ op: 'remove', id: 'a' })),
      'mutations must be a list of 1 to 64',
    ],
    ['with an item that is no object', [{ op: 'remove', id: 'a' }, 'x'], 'mutations[1] must be an object'],
    ['with an item that is null', [null], 'mutations[0] must be an object'],
    ['without an op', [{ id: 'a' }], 'mutations[0].op must be create, update or remove'],
    ['without an id', [{ op: 'remove' }], 'mutations[0].id must be'],
    ['with options that are none', [{ op: 'create', id: 'a', options: 'x' }], 'mutations[0].options must be an object'],
    ['with a list of options', [{ op: 'create', id: 'a', options: [] }], 'mutations[0].options must be an object'],
  ])('%s', (_, list, problem) => {
    expect(() => parseMutations(list)).toThrow(problem)
    expect(admit(plain, [], sentMutations(list))).toEqual({ admitted: false, reason: expect.stringContaining(problem) })
  })
})

const long = (text: string, count: number): readonly Mutation[] =>
  Array.from({ length: count }, (_, at) => ({
    op: 'create' as const,
    id: `long-${at}`,
    options: { name: 'rules', config: { text: text.repeat(1000) + at } },
  }))

describe('a long proposal', () => {
  it('is admitted beside the thread that answers requests, which goes on meanwhile', async () => {
    let turns = 0
    const spinning = setInterval(() => (turns += 1), 0)
    onTestFinished(() => clearInterval(spinning))
    const mutations = long('More words. ', 8)
    expect(await admitBeside(plain, TREE, mutations)).toEqual(admit(plain, TREE, mutations))
    expect(turns).toBeGreaterThan(0)
  })

  it('is refused for the first credential in it, as a short one is', async () => {
    const mutations = [...long('More words. ', 3), ...parseMutations([create('key', { name: 'rules', config: { text: `Use ${KEY}.` } })])]
    const refused = await admitBeside(plain, TREE, mutations)
    expect(refused).toEqual(admit(plain, TREE, mutations))
    expect(refused).toMatchObject({ reason: expect.stringContaining('key: config.text holds what looks like a credential') })
    expect(await admitBeside(plain, TREE, mutations.slice(3))).toEqual(refused)
  })
})
