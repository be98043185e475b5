/** Money that is spent is told once, and one of several services tells. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { until } from '../../test/support/wait.ts'
import { spentEvents, type MoneySpender } from './spenders.ts'
import { NOW, rowAt, storeWith, startTarget, untilAborted, untilLater, hook, open } from './testing/deliveries.ts'

const spender = (spent: number, change: Partial<MoneySpender> = {}): MoneySpender => ({
  kind: 'token',
  name: 'ci',
  key: 'token ci',
  spent,
  limit: 10,
  ...change,
})

describe('money that is spent', () => {
  const NOON = Math.floor(NOW / 86_400) * 86_400 + 43_200
  const told = (spenders: readonly MoneySpender[], now = NOON): readonly unknown[] =>
    spentEvents(spenders, now).map(({ body }) => Object(JSON.parse(body))['data'])

  it('is an event at 80 and at 100 percent, for tokens and scenarios', () => {
    expect(told([spender(7.99)])).toEqual([])
    expect(told([spender(8)])).toMatchObject([
      { token: 'ci', percent: 80, spent: 8, limit: 10, day: new Date(NOON * 1000).toISOString().slice(0, 10) },
    ])
    expect(told([spender(11, { kind: 'scenario', name: 's', key: 'scenario s' })])).toMatchObject([{ scenario: 's', percent: 100 }])
  })

  it('has another id for each day, percent and name, and the same one whoever counts', () => {
    const idsOf = (given: readonly MoneySpender[], now = NOON): readonly string[] => spentEvents(given, now).map(({ id }) => id)
    expect(idsOf([spender(8)])).toEqual(idsOf([spender(9.5)], NOON + 600))
    const all = [
      ...idsOf([spender(8), spender(10), spender(8, { key: 'token other' }), spender(8, { kind: 'scenario' })]),
      ...idsOf([spender(8)], NOON + 86_400),
    ]
    expect(new Set(all).size).toBe(5)
  })

  it('is not told of around midnight, when a clock and a count may be of different days', () => {
    const midnight = Math.floor(NOON / 86_400) * 86_400
    expect([told([spender(10)], midnight + 1), told([spender(10)], midnight + 61)].map((events) => events.length)).toEqual([0, 1])
  })

  it('is told once a day, also after a restart, and what waits when the service ends is told then', async () => {
    const folder = temporaryFolder()
    const [store, target] = [await storeWith(), await startTarget([503])]
    const setting = { store, hooks: [hook(target.url)], folder }
    const first = await open({ ...setting, needs: { clock: () => NOON, pause: untilAborted } })
    first.webhooks.watch(async () => [spender(12)])
    await until(() => target.got.length === 1)
    await first.webhooks.close()
    // Nothing is spent any more, and the event is there.
    const second = await open({ ...setting, needs: { clock: () => NOON } })
    await until(() => second.webhooks.counts()[0]?.delivered === 1)
    expect(target.got[1]?.headers['webhook-id']).toBe(target.got[0]?.headers['webhook-id'])
    expect(target.got[1]?.body).toMatchObject({ type: 'budget', data: { token: 'ci', percent: 100 } })
    await second.webhooks.close()
    const third = await open({ ...setting, needs: { clock: () => NOON + 60 } })
    let looks = 0
    third.webhooks.watch(async () => {
      looks += 1
      return [spender(13)]
    })
    await until(() => looks === 2)
    expect(target.got).toHaveLength(2)
  }, 60_000)

  it('whose events cannot be read is an error at the start', async () => {
    const folder = temporaryFolder()
    for (const broken of ['{', '[]', '{"waiting":[1],"marks":[]}', '{"waiting":[],"marks":[1]}']) {
      writeFileSync(join(folder, 'chat.spent.json'), broken)
      await expect(open({ store: await storeWith(), hooks: [hook('http://127.0.0.1:1')], folder })).rejects.toThrow(
        'webhooks/chat.spent.json cannot be read',
      )
    }
  })
})

describe('several services over one store', () => {
  it('tell a target once, and another one goes on when the first is gone', async () => {
    const folder = temporaryFolder()
    const [store, target] = [await storeWith('a'), await startTarget()]
    const setting = { store, hooks: [hook(target.url)], folder }
    const [one, two] = [await open(setting), await open(setting)]
    expect([await one.webhooks.states(), await two.webhooks.states()]).toMatchObject([[{ isDelivering: true }], [{ isDelivering: false }]])
    for (const step of [1, 2, 3]) await store.scenario('a').commit(rowAt(step))
    await until(() => target.got.length === 3)
    await one.webhooks.close()
    await store.scenario('a').commit(rowAt(4, { outcome: 'failed' }))
    await until(() => target.got.length === 4)
    expect(target.types()).toEqual(['published', 'published', 'published', 'failed'])
    expect(two.webhooks.counts()).toMatchObject([{ delivered: 1 }])
  }, 60_000)

  it('see what was set aside, and have it sent again by the one that delivers', async () => {
    const folder = temporaryFolder()
    const [store, target] = [await storeWith('a'), await startTarget(Array.from({ length: 6 }, () => 400))]
    const setting = { store, hooks: [hook(target.url)], folder, needs: { pause: untilLater } }
    const [one, two] = [await open(setting), await open(setting)]
    await store.scenario('a').commit(rowAt(1))
    await until(async () => (await two.webhooks.states())[0]?.setAside === 1)
    expect(await one.webhooks.states()).toMatchObject([{ setAside: 1 }])
    expect(await two.webhooks.sendAgain()).toBe(1)
    await until(() => target.got.length === 7)
    await until(async () => (await two.webhooks.states())[0]?.setAside === 0)
    expect(await one.webhooks.sendAgain()).toBe(0)
  }, 60_000)

  it('have what was set aside sent again at once where they deliver', async () => {
    const [store, target] = [await storeWith('a'), await startTarget(Array.from({ length: 6 }, () => 400))]
    const { webhooks } = await open({ store, hooks: [hook(target.url)], needs: { pause: untilLater } })
    await store.scenario('a').commit(rowAt(1))
    await until(() => webhooks.counts()[0]?.setAside === 1)
    expect(await webhooks.sendAgain()).toBe(1)
    await until(() => target.got.length === 7 && webhooks.counts()[0]?.setAside === 0)
  })
})
