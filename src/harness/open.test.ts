import { describe, expect, it } from 'vitest'
import type { Entry, JsonObject, Parts } from '../contract/index.ts'
import { openHarness, shippedUpdate } from './open.ts'
import { native, NOTICE, plain, REQUESTS } from './testing/adapters.ts'
import { contentOf, entriesIn } from './tree.ts'

const parts: Parts = {
  plugin: (_, name) => Promise.resolve(Reflect.get({ plain, native }, name)),
  baseDirectory: '.',
  warn: () => undefined,
}
const open = (evolution: JsonObject) =>
  openHarness({ evolution: { adapter: 'plain', seed: [], version_check: null, requests: null, ...evolution } }, parts)
const idsOf = async (evolution: JsonObject): Promise<readonly string[]> => {
  const { adapter, seed } = await open(evolution)
  return entriesIn(adapter, seed).map(({ id }) => id)
}

const TONE = { id: 'tone', name: 'rules', config: { text: 'Be brief.' } }

describe('a harness', () => {
  it('starts with the configured entries, then what is shipped', async () => {
    expect(await idsOf({ seed: [TONE] })).toEqual(['tone', 'svc-version-check', 'svc-requests'])
    expect(await idsOf({ seed: [TONE], version_check: false })).toEqual(['tone', 'svc-requests'])
    expect(await idsOf({ requests: false, version_check: true })).toEqual(['svc-version-check'])
    expect(await idsOf({ adapter: 'native', seed: [TONE] })).toEqual(['tone'])
  })

  it.each<[string, JsonObject, string]>([
    ['an id twice', { seed: [TONE, TONE] }, 'evolution.seed[1]: tone is the id of an entry above'],
    ['a reserved id', { seed: [{ ...TONE, id: 'svc-requests' }] }, 'evolution.seed[0]: svc-requests is an entry that the service ships'],
    ['a broken rule', { seed: [TONE, { ...TONE, id: 'b', config: {} }] }, 'evolution.seed[1]: b: config.text must be non-blank text'],
    ['a group', { seed: [{ ...TONE, group: 'x' }] }, 'evolution.seed[0]: tone: group must not be set'],
    [
      'a kind of another agent',
      { seed: [{ ...TONE, name: 'native_hook' }] },
      'evolution.seed[0]: tone: name must be a kind that plain renders',
    ],
    [
      'entries that do not render together',
      {
        seed: [
          { id: 'a', name: 'agent_command', config: { name: 'x', text: 'x' } },
          { id: 'b', name: 'agent_command', config: { name: 'X', text: 'x' } },
        ],
      },
      'evolution.seed: b and a are both rendered to',
    ],
    [
      'a switch for what is not shipped',
      { adapter: 'native', version_check: true },
      'evolution.version_check: nothing of it is shipped for native',
    ],
    [
      'the other switch for what is not shipped',
      { adapter: 'native', requests: true },
      'evolution.requests: nothing of it is shipped for native',
    ],
  ])('does not start with %s', async (_, evolution, problem) => {
    await expect(open(evolution)).rejects.toThrow(problem)
  })

  it('reads the content of the release that is asked for', async () => {
    const { seed, files } = await open({ seed: [TONE] })
    const surface = files((id) => Promise.resolve(id === 'c-1' ? seed : {}))
    expect(await surface.read({ release_id: 'r', parent_release_id: null, content_id: 'c-1' })).toEqual(seed)
  })

  it('brings what is shipped up to date as the switches say', async () => {
    const { files } = await open({ version_check: false })
    const surface = files(() => Promise.resolve({}))
    const updated = surface.shipped?.(contentOf(plain, [TONE]))
    expect(updated?.entries).toEqual(['svc-requests'])
    expect(surface.shipped?.(updated?.content ?? {})).toBeNull()
  })
})

describe('what is shipped', () => {
  const old: Entry = { ...NOTICE, config: { ...NOTICE.config, code: 'export default () => 0' } }

  it('is replaced in its place, or comes last, and the whole tree is rendered again', () => {
    const updated = shippedUpdate(plain, [NOTICE, REQUESTS], contentOf(plain, [old, TONE]))
    expect(updated).toEqual({ content: contentOf(plain, [NOTICE, TONE, REQUESTS]), entries: ['svc-version-check', 'svc-requests'] })
  })

  it('is left alone when it is the same, in whatever order its fields stand', () => {
    const turned: Entry = { ...REQUESTS, config: Object.fromEntries(Object.entries(REQUESTS.config).toReversed()) }
    expect(shippedUpdate(plain, [turned], contentOf(plain, [TONE, REQUESTS]))).toBeNull()
  })

  it('never keeps a tree from being served that it does not go with', () => {
    const taken: Entry = { id: 'mine', name: 'agent_command', config: { name: 'svc', text: 'x' } }
    expect(shippedUpdate(plain, [REQUESTS], contentOf(plain, [taken]))).toBeNull()
    expect(shippedUpdate(plain, [REQUESTS], { 'README.md': 'no tree' })).toBeNull()
  })
})
