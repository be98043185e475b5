import { createHmac } from 'node:crypto'
import dns, { type LookupAddress } from 'node:dns'
import type { ServerResponse } from 'node:http'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { until } from '../../test/support/wait.ts'
import { sendWebhook } from './send.ts'
import { NOW, rowAt, storeWith, startTarget, keptStep, usedUp, untilAborted, untilLater, hook, open } from './testing/deliveries.ts'

describe('a target', () => {
  it('is told of rows that hold, publish and fail, and not of others, signed as Standard Webhooks says', async () => {
    const [store, target] = [await storeWith('a'), await startTarget()]
    await open({ store, hooks: [hook(target.url)] })
    const a = store.scenario('a')
    await a.commit(rowAt(1, { outcome: 'pending', pending: true }))
    await a.commit(rowAt(2, { outcome: 'rejected' }))
    await a.commit(rowAt(3, { outcome: 'skipped' }))
    await a.commit(rowAt(4, { operation: 'promote' }))
    await a.commit(rowAt(5, { outcome: 'failed' }))
    await until(() => target.got.length === 3)
    expect(target.types()).toEqual(['held', 'published', 'failed'])
    expect(target.got[2]?.body).toEqual({
      type: 'failed',
      timestamp: new Date((NOW - 10) * 1000).toISOString(),
      data: { scenario: 'a', step: 5, operation: 'train', release_id: null, error: 'it broke' },
    })
    for (const { headers, text } of target.got) {
      const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${text}`
      const signature = createHmac('sha256', Buffer.alloc(32, 7)).update(signed).digest('base64')
      expect(headers['webhook-signature']).toBe(`v1,${signature}`)
      expect(headers['webhook-timestamp']).toBe(String(NOW))
    }
    expect(new Set(target.got.map(({ headers }) => headers['webhook-id'])).size).toBe(3)
  })

  it('is told only of the events that it wants, and of a budget that is used up', async () => {
    const [store, target] = [await storeWith('a'), await startTarget()]
    await open({ store, hooks: [hook(target.url, { events: new Set(['budget']) })], needs: { told: usedUp } })
    await store.scenario('a').commit(rowAt(1))
    await until(() => target.got.length === 1)
    expect(target.got[0]?.body).toMatchObject({ type: 'budget', data: { reason: 'evolution.max_steps (1) is used up' } })
  })

  it('that is new is not told of what was before it', async () => {
    const [store, target] = [await storeWith('a'), await startTarget()]
    await store.scenario('a').commit(rowAt(1))
    await open({ store, hooks: [hook(target.url)] })
    await store.scenario('a').commit(rowAt(2, { outcome: 'failed' }))
    await until(() => target.got.length === 1)
    expect(target.types()).toEqual(['failed'])
  })

  it('that refuses or breaks off is asked again with longer and longer pauses and the same id, and the order stays', async () => {
    const store = await storeWith('a')
    const target = await startTarget([500, 302, (response) => response.destroy(), 429])
    const pauses: number[] = []
    const pause = async (seconds: number): Promise<void> => void pauses.push(seconds)
    const { webhooks, log } = await open({ store, hooks: [hook(target.url)], needs: { pause } })
    await store.scenario('a').commit(rowAt(1, { outcome: 'failed' }))
    await store.scenario('a').commit(rowAt(2))
    await until(() => target.got.length === 6)
    expect(target.types()).toEqual([...Array.from({ length: 5 }, () => 'failed'), 'published'])
    expect(new Set(target.got.slice(0, 5).map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(pauses).toEqual([1, 2, 4, 8])
    expect(log[0]).toContain('the target answered 500')
    await until(() => webhooks.counts()[0]?.waiting === 0)
    expect(webhooks.counts()).toEqual([{ name: 'chat', delivered: 2, failed: 4, waiting: 0, setAside: 0 }])
  })

  it('that hangs holds up neither another target nor the end of the service', async () => {
    const store = await storeWith('a')
    const [hanging, well] = [await startTarget([() => undefined]), await startTarget()]
    const { webhooks } = await open({ store, hooks: [hook(hanging.url, { name: 'slow' }), hook(well.url)] })
    await store.scenario('a').commit(rowAt(1))
    await until(() => well.got.length === 1 && hanging.got.length === 1)
    await webhooks.close()
  })

  it('is told after the next start of what it missed, and once more of what was cut off', async () => {
    const folder = temporaryFolder()
    const store = await storeWith('a', 'b')
    const refusing = await startTarget(Array.from({ length: 100 }, () => 503))
    const { webhooks: first } = await open({ store, hooks: [hook(refusing.url)], folder, needs: { pause: untilAborted } })
    await store.scenario('a').commit(rowAt(1))
    await until(() => refusing.got.length === 1)
    await first.close()
    await store.scenario('b').commit(rowAt(1, { outcome: 'failed' }))
    await store.scenario('new').commit(rowAt(0))
    await store.scenario('new').commit(rowAt(1, { outcome: 'pending' }))
    const target = await startTarget()
    await open({ store, hooks: [hook(target.url)], folder })
    await until(() => target.got.length === 3)
    expect(new Set(target.types())).toEqual(new Set(['failed', 'held', 'published']))
    expect(target.got.map(({ headers }) => headers['webhook-id'])).toContain(refusing.got[0]?.headers['webhook-id'])
    await until(() => keptStep(folder, 'new') === 1)
  })

  it('that refuses one event again and again is told of the others, and of that one later, also after a restart', async () => {
    const folder = temporaryFolder()
    const store = await storeWith('a', 'b')
    const target = await startTarget(Array.from({ length: 6 }, () => 400))
    const first = await open({ store, hooks: [hook(target.url)], folder, needs: { pause: untilLater } })
    await store.scenario('a').commit(rowAt(1, { outcome: 'failed' }))
    await store.scenario('a').commit(rowAt(2))
    await until(() => target.got.length === 7)
    await store.scenario('b').commit(rowAt(1, { outcome: 'pending' }))
    await until(() => target.got.length === 8 && first.webhooks.counts()[0]?.waiting === 0)
    expect(target.types()).toEqual([...Array.from({ length: 6 }, () => 'failed'), 'published', 'held'])
    expect(first.webhooks.counts()).toMatchObject([{ delivered: 2, setAside: 1 }])
    expect(first.log.at(-1)).toContain('webhook_set_aside')
    await first.webhooks.close()
    const second = await open({ store, hooks: [hook(target.url)], folder })
    await until(() => target.got.length === 9 && second.webhooks.counts()[0]?.setAside === 0)
    expect(target.got.at(-1)?.headers['webhook-id']).toBe(target.got[0]?.headers['webhook-id'])
    await until(() => readFileSync(join(folder, 'chat.set-aside.json'), 'utf8') === '[]')
  })

  it('that is busy or away is waited for, and the order stays', async () => {
    const [store, target] = [await storeWith('a'), await startTarget(Array.from({ length: 12 }, () => 503))]
    await open({ store, hooks: [hook(target.url)] })
    await store.scenario('a').commit(rowAt(1, { outcome: 'failed' }))
    await store.scenario('a').commit(rowAt(2))
    await until(() => target.got.length === 14)
    expect(target.types()).toEqual([...Array.from({ length: 13 }, () => 'failed'), 'published'])
  })

  it('whose events that were set aside cannot be read is an error at the start', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'chat.set-aside.json'), '{')
    await expect(open({ store: await storeWith(), hooks: [hook('http://127.0.0.1:1')], folder })).rejects.toThrow(
      'chat.set-aside.json cannot be read',
    )
  })

  it('that takes nothing for three days does not hold up the later events', async () => {
    const [store, target] = [await storeWith('a'), await startTarget([500])]
    const { log } = await open({ store, hooks: [hook(target.url)] })
    await store.scenario('a').commit(rowAt(1, { outcome: 'failed', recorded_at: NOW - 4 * 24 * 3600 }))
    await store.scenario('a').commit(rowAt(2))
    await until(() => target.got.length === 2)
    expect(target.types()).toEqual(['failed', 'published'])
    expect(log).toEqual([expect.stringContaining('webhook_given_up')])
  })

  it('with a scenario that was archived and made again is told of the new one from its first step', async () => {
    const [store, target] = [await storeWith('a'), await startTarget()]
    await open({ store, hooks: [hook(target.url)] })
    await store.scenario('a').commit(rowAt(1))
    await until(() => target.got.length === 1)
    await store.archive('a')
    await store.scenario('a').commit(rowAt(0))
    await store.scenario('a').commit(rowAt(1, { outcome: 'failed' }))
    await until(() => target.got.length === 2)
    expect(target.types()).toEqual(['published', 'failed'])
  })

  it('that answers after its scenario was archived and made again is told of the new one from its first step', async () => {
    const answer = Promise.withResolvers<ServerResponse>()
    const [store, target] = [await storeWith('a'), await startTarget([answer.resolve])]
    const { webhooks } = await open({ store, hooks: [hook(target.url)] })
    await store.scenario('a').commit(rowAt(1))
    const response = await answer.promise
    expect(webhooks.counts()).toMatchObject([{ delivered: 0, waiting: 1 }])
    await store.archive('a')
    await store.scenario('a').commit(rowAt(0))
    await store.scenario('a').commit(rowAt(1, { outcome: 'failed' }))
    response.writeHead(204).end()
    await until(() => target.got.length === 2)
    expect(target.types()).toEqual(['published', 'failed'])
  })

  it('is told of a scenario that was archived and made again while the service was down, also where it has more rows by now', async () => {
    const [store, target, folder] = [await storeWith('a'), await startTarget(), temporaryFolder()]
    const { webhooks } = await open({ store, hooks: [hook(target.url)], folder })
    await store.scenario('a').commit(rowAt(1))
    await until(() => webhooks.counts()[0]?.delivered === 1)
    await webhooks.close()
    await store.archive('a')
    for (const [step, outcome] of (['published', 'failed', 'pending'] as const).entries())
      await store.scenario('a').commit(rowAt(step, { outcome, recorded_at: NOW - 5 }))
    await open({ store, hooks: [hook(target.url)], folder })
    await until(() => target.got.length === 3)
    expect(target.types()).toEqual(['published', 'failed', 'held'])
  })

  it('whose positions cannot be kept is told all the same, each event once, and they are kept again with the next one', async () => {
    const [store, target, folder] = [await storeWith('a'), await startTarget(), temporaryFolder()]
    const { webhooks, log } = await open({ store, hooks: [hook(target.url)], folder })
    rmSync(folder, { recursive: true })
    writeFileSync(folder, 'in the way')
    await store.scenario('a').commit(rowAt(1))
    await until(() => log.length > 0 && webhooks.counts()[0]?.waiting === 0)
    rmSync(folder)
    await store.scenario('a').commit(rowAt(2, { outcome: 'failed' }))
    await until(() => webhooks.counts()[0]?.delivered === 2 && webhooks.counts()[0]?.waiting === 0)
    expect(target.types()).toEqual(['published', 'failed'])
    expect(keptStep(folder, 'a')).toBe(2)
  })

  it('does not read a long history without events again after every start', async () => {
    const [store, folder] = [await storeWith('a'), temporaryFolder()]
    const { webhooks } = await open({ store, hooks: [hook('http://127.0.0.1:1')], folder })
    await webhooks.close()
    for (let step = 1; step <= 60; step += 1) await store.scenario('a').commit(rowAt(step, { outcome: 'rejected' }))
    await open({ store, hooks: [hook('http://127.0.0.1:1')], folder })
    await until(() => keptStep(folder, 'a') === 50)
  })

  it('whose positions are broken is an error at the start, not a new beginning', async () => {
    const folder = temporaryFolder()
    for (const broken of ['{', '[]', '{"a":1}', '{"a":{"step":1}}']) {
      writeFileSync(join(folder, 'chat.json'), broken)
      await expect(open({ store: await storeWith(), hooks: [hook('http://127.0.0.1:1')], folder })).rejects.toThrow(
        /chat\.json cannot be read; restore it/,
      )
    }
  })
})

describe('an address of the inside', () => {
  const call = { headers: {}, body: '{}', signal: new AbortController().signal }

  it.each([
    'http://127.0.0.1:9/',
    'http://localhost:9/',
    'http://[::1]:9/',
    'http://[::ffff:127.0.0.1]:9/',
    'http://169.254.169.254/',
    'http://0x7f.1:9/',
  ])('%s is refused unless it is allowed', async (url) => {
    await expect(sendWebhook({ ...call, url, allowsInside: false })).rejects.toThrow('address of the inside')
  })

  it('is reached where it is allowed', async () => {
    const target = await startTarget()
    expect(await sendWebhook({ ...call, url: target.url, allowsInside: true })).toBe(204)
    await expect(sendWebhook({ ...call, url: target.url, allowsInside: false })).rejects.toThrow('address of the inside')
  })

  it('is refused also where a name leads to it, with the key that allows it', async () => {
    const real = dns.lookup
    onTestFinished(() => void Reflect.set(dns, 'lookup', real))
    const answer: LookupAddress[] = [{ address: '10.1.2.3', family: 4 }]
    Reflect.set(dns, 'lookup', (_name: string, _options: unknown, done: (error: null, found: LookupAddress[]) => void) =>
      done(null, answer),
    )
    await expect(sendWebhook({ ...call, url: 'http://rebinds.example/', allowsInside: false })).rejects.toThrow('allow_inside')
  })
})
