/** The provisional release of a scenario: how it comes, goes on and ends, in every process, and what live scores do to it. */
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { contentOf, Deployment, publish } from '../../test/support/deployment.ts'
import type { Release, StepResult, Surface } from '../contract/index.ts'
import { catalogRows } from './catalog.ts'

const offer = (text: string, gain: number): StepResult => ({ kind: 'provisional', content: contentOf(text), gain })
const reject = (text: string): StepResult => ({ kind: 'reject', content: contentOf(text) })

let here: Deployment
const CANARY: Surface = { provisional: { share: 0.5 } }
beforeEach(async () => {
  here = await Deployment.open(CANARY)
})
afterEach(async () => {
  await here.close()
  expect(here.warnings).toEqual([])
})

describe('a candidate that looks better', () => {
  it('becomes the provisional release, and the head stays', async () => {
    const head = here.first.head()
    const row = await here.step(offer('better', 0.2))
    expect(row).toMatchObject({ outcome: 'pending', pending: true, metrics: { provisional: { gain: 0.2 } } })
    expect(here.provisional).toEqual(row.release)
    expect(here.first.head()).toBe(head)
    expect(await here.services.contents.read(row.release?.content_id ?? '')).toEqual({ 'rules.md': 'better' })
    expect(here.views.get('a')).toMatchObject({ provisional: { release: row.release, share: 0.5 }, head })
  })

  it('goes on when it is offered again, with no second release', async () => {
    const first = await here.step(offer('better', 0.2))
    const again = await here.step(offer('better', 0.1))
    expect(again).toMatchObject({ outcome: 'rejected', release: null })
    expect(here.provisional).toEqual(first.release)
  })

  it('gives way to one that gains more, and to no other', async () => {
    const first = await here.step(offer('better', 0.2))
    expect(await here.step(offer('less', 0.2))).toMatchObject({ outcome: 'rejected', release: null })
    expect(here.provisional).toEqual(first.release)
    const more = await here.step(offer('more', 0.3))
    expect(here.provisional).toEqual(more.release)
    expect(await marks()).toEqual([undefined, false, undefined, true])
  })

  it('is no candidate where a person rejected it', async () => {
    const held = await here.step({ kind: 'hold', content: contentOf('better') })
    await here.members[0]?.move('a', held.release?.release_id ?? '', 'reject', { words: 'no', by: null })
    await here.settled()
    expect(await here.step(offer('better', 0.2))).toMatchObject({ outcome: 'rejected', release: null })
    expect(here.provisional).toBeUndefined()
  })

  it('is no candidate where it is what is served', async () => {
    await here.step(publish('served'))
    expect(await here.step(offer('served', 0.2))).toMatchObject({ outcome: 'rejected', release: null })
    expect(here.provisional).toBeUndefined()
  })
})

const marks = async (): Promise<readonly (boolean | undefined)[]> =>
  (await catalogRows(here.first, await here.first.everyRow())).map(({ provisional }) => provisional)

describe('it ends', () => {
  it('as an ordinary release, when it is proved', async () => {
    const offered = await here.step(offer('better', 0.2))
    const proved = await here.step(publish('better'))
    expect(proved).toMatchObject({ outcome: 'published', release: { content_id: offered.release?.content_id } })
    expect(here.provisional).toBeUndefined()
    expect(here.first.head()).toEqual(proved.release)
  })

  it('when a later step refutes it, and not when another candidate loses', async () => {
    const offered = await here.step(offer('better', 0.2))
    await here.step(reject('another'))
    expect(here.provisional).toEqual(offered.release)
    const refuted = await here.step(reject('better'))
    expect(refuted).toMatchObject({ outcome: 'rejected', release: null, metrics: { provisional_ended: { because: 'refuted' } } })
    expect(here.provisional).toBeUndefined()
    await here.step(offer('better', 0.2))
    expect(here.provisional?.content_id).toBe(offered.release?.content_id)
  })

  it('when anything else is published, or rolled back', async () => {
    const start = here.first.head()
    await here.step(publish('one'))
    await here.step(offer('better', 0.2))
    await here.members[1]?.move('a', start.release_id, 'rollback')
    await here.settled()
    expect(here.provisional).toBeUndefined()
  })

  it('when a person promotes it', async () => {
    const offered = await here.step(offer('better', 0.2))
    await here.members[0]?.move('a', offered.release?.release_id ?? '', 'promote')
    await here.settled()
    expect(here.first.head().content_id).toBe(offered.release?.content_id)
    expect(here.provisional).toBeUndefined()
  })
})

describe('a withdrawal', () => {
  it('ends it everywhere at once, by a row that says so, and moves nothing', async () => {
    const { release } = await here.step(offer('better', 0.2))
    const head = here.first.head()
    await here.withdraw()
    expect(here.provisional).toBeUndefined()
    expect(here.first.head()).toBe(head)
    expect(here.views.get('a')).toMatchObject({ provisional: null })
    const row = await here.first.wholeRow(2)
    expect(row).toMatchObject({
      operation: 'withdraw',
      outcome: 'rejected',
      release: null,
      rollback_target_release_id: release?.release_id,
    })
    await expect(here.members[0]?.move('a', head.release_id, 'withdraw')).rejects.toMatchObject({
      kind: 'conflict',
      code: 'not_provisional',
    })
  })

  it('keeps its content from coming back by itself until something else is published', async () => {
    await here.step(offer('better', 0.2))
    await here.withdraw()
    expect(await here.step(offer('better', 0.9))).toMatchObject({ outcome: 'rejected', release: null })
    const proved = await here.step(publish('better'))
    expect(proved).toMatchObject({ outcome: 'pending', metrics: { held_because: expect.stringContaining('withdrawn') } })
    expect(here.provisional).toBeUndefined()
    await here.step(publish('other'))
    await here.step(offer('better', 0.2))
    expect(here.provisional).toBeDefined()
  })

  it('of one of two at once lands once', async () => {
    const { release } = await here.step(offer('better', 0.2))
    const ends = await Promise.allSettled(here.members.map((member) => member.move('a', release?.release_id ?? '', 'withdraw')))
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
    await here.settled()
    expect(here.first.history.step).toBe(2)
  })
})

describe('live scores', () => {
  const PAIRS = 60

  it('withdraw it when it is worse, by a row with the numbers', async () => {
    const { release } = await here.step(offer('worse', 0.2))
    if (release === null) throw new Error('there is no release')
    for (let n = 0; n < PAIRS && here.provisional !== undefined; n += 1) {
      await here.scored(here.first.head(), `on the head ${n}`, 1)
      await here.scored(release, `on trial ${n}`, 0)
    }
    await vi.waitFor(() => expect(here.provisional).toBeUndefined())
    await here.settled()
    const row = (await here.first.everyRow()).findLast(({ operation }) => operation === 'withdraw')
    expect(row?.metrics).toMatchObject({ live_scores: { provisional_mean: 0, head_mean: 1 }, reason: expect.stringContaining('lower') })
    expect((await here.first.everyRow()).filter(({ operation }) => operation === 'withdraw')).toHaveLength(1)
  })

  it('are counted once per session, and only of exchanges since it began', async () => {
    const { first } = here
    await here.scored(first.head(), 'before', 1)
    const { release } = await here.step(offer('fine', 0.2))
    if (release === null) throw new Error('there is no release')
    for (let n = 0; n < PAIRS; n += 1) await here.scored(release, 'a flood of one client', 0)
    for (let n = 0; n < PAIRS; n += 1) await here.scored(first.head(), `on the head ${n}`, 1)
    await vi.waitFor(() => expect(first.liveTest?.summary()).toMatchObject({ pairs: 1, provisional_sessions: 1, head_sessions: PAIRS }))
    expect(here.provisional).toEqual(release)
  })

  it('of releases that are neither served nor on trial do not count', async () => {
    const start = here.first.head()
    await here.step(publish('served'))
    const { release } = await here.step(offer('fine', 0.2))
    await here.scored(start, 'pinned', 0)
    if (release !== null) await here.scored(release, 's', 1)
    await vi.waitFor(() => expect(here.first.liveTest?.summary()).toMatchObject({ provisional_sessions: 1, head_sessions: 0 }))
  })

  it('survive a restart: what came while nothing ran counts too', async () => {
    const { release } = await here.step(offer('worse', 0.2))
    if (release === null) throw new Error('there is no release')
    for (let n = 0; n < 5; n += 1) {
      await here.scored(here.first.head(), `on the head ${n}`, 1)
      await here.scored(release, `on trial ${n}`, 0)
    }
    await vi.waitFor(() => expect(here.first.liveTest?.summary()).toMatchObject({ pairs: 5 }))
    const before = here.first.liveTest?.summary()
    await here.close()
    await here.start()
    expect(here.provisional).toEqual(release)
    await vi.waitFor(() => expect(here.first.liveTest?.summary()).toEqual(before))
  })
})

it('is recorded and shown, and served to nobody, in shadow', async () => {
  const shadow = await Deployment.open({})
  const row = await shadow.step(offer('better', 0.2))
  expect(shadow.first.history.provisional?.row.release).toEqual(row.release)
  expect(shadow.first.provisional).toBeNull()
  expect(shadow.views.get('a')).toMatchObject({ provisional: null })
  expect(shadow.first.liveTest).toBeNull()
  await shadow.close()
})

const text = fc.constantFrom('a', 'b', 'c')
const act = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('offer' as const), text, gain: fc.constantFrom(0.1, 0.2, 0.3) }) },
  fc.record({ do: fc.constant('reject' as const), text }),
  fc.record({ do: fc.constant('publish' as const), text }),
  fc.record({ do: fc.constant('withdraw' as const) }),
  fc.record({ do: fc.constant('restart' as const) }),
)
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never

/** What should be so, by texts alone. */
interface Model {
  head: string
  provisional: { readonly text: string; readonly gain: number } | null
  withdrawn: ReadonlySet<string>
}

function after(model: Model, wish: Act): Model {
  const { head, provisional, withdrawn } = model
  if (wish.do === 'restart') return model
  if (wish.do === 'withdraw')
    return provisional === null ? model : { ...model, provisional: null, withdrawn: new Set([...withdrawn, provisional.text]) }
  const isThere = provisional?.text === wish.text
  if (wish.do === 'reject') return isThere ? { ...model, provisional: null } : model
  if (wish.text === head || withdrawn.has(wish.text)) return model
  if (wish.do === 'publish') return { head: wish.text, provisional: null, withdrawn: new Set() }
  return isThere || wish.gain <= (provisional?.gain ?? 0) ? model : { ...model, provisional: { text: wish.text, gain: wish.gain } }
}

it('is what a small model says, whatever steps, people and restarts do', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 12, size: 'max' }), async (acts) => {
      const deployment = await Deployment.open(CANARY)
      const textOf = async ({ content_id }: Release): Promise<string> =>
        (await deployment.services.contents.read(content_id))['rules.md'] ?? ''
      let model: Model = { head: '', provisional: null, withdrawn: new Set() }
      for (const wish of acts) {
        const isEnding = wish.do === 'withdraw' && model.provisional !== null
        model = after(model, wish)
        if (wish.do === 'offer') await deployment.step(offer(wish.text, wish.gain))
        if (wish.do === 'reject') await deployment.step(reject(wish.text))
        if (wish.do === 'publish') await deployment.step(publish(wish.text))
        if (isEnding) await deployment.withdraw()
        if (wish.do === 'restart') {
          await deployment.close()
          await deployment.start()
        }
        const { provisional } = deployment
        expect(provisional === undefined ? null : await textOf(provisional)).toBe(model.provisional?.text ?? null)
        expect(await textOf(deployment.first.head())).toBe(model.head)
      }
      await deployment.close()
      expect(deployment.warnings).toEqual([])
    }),
    { numRuns: 25 },
  )
})
