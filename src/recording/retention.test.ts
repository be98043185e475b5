/** Bodies go for their age, by the days of their scenario; a clock that moved takes none. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { create, record } from '../../conformance/store-samples.ts'
import memory from '../../plugins/stores/memory/index.ts'
import { wrapScenario } from '../../test/fixtures/wrap-store.ts'
import { temporaryFolder } from '../../test/support/folder.ts'
import type { Store } from '../contract/index.ts'
import { Retention, type RetentionNeeds } from './retention.ts'

const DAY = 86_400
const NOW = 1000 * DAY

interface Here {
  readonly store: Store
  readonly lines: string[]
  readonly folder: string
  now: number
  /** Opened again after each start of the service. */
  readonly open: (needs?: Partial<RetentionNeeds>) => Promise<Retention>
}

async function here(): Promise<Here> {
  const store = await memory.plugin.make({ directory: '' })
  const folder = temporaryFolder()
  const made: Here = {
    store,
    lines: [],
    folder,
    now: NOW,
    open: async (needs = {}) => {
      const retention = await Retention.open({
        store,
        days: 30,
        scenarioDays: new Map(),
        path: join(folder, 'retention.json'),
        clock: () => made.now,
        log: (_, event, fields) => made.lines.push(`${event} ${fields['scenario'] ?? ''}${fields['records'] ?? ''}`),
        ...needs,
      })
      onTestFinished(() => retention.close())
      await retention.sweep()
      return retention
    },
  }
  return made
}

async function filled(store: Store, scenario: string, ages: readonly number[]): Promise<void> {
  await (await create(store, scenario)).append(ages.map((days) => record(`${days} days`, { created_at: NOW - days * DAY })))
}

async function kept(store: Store, scenario: string): Promise<readonly string[]> {
  const rows = await store.scenario(scenario).records({ after: 0, limit: 10_000 })
  const bodies = await Promise.all(rows.map(async ({ agent_record_id: id }) => [id, await store.scenario(scenario).get(id)] as const))
  return bodies.flatMap(([id, body]) => (body?.payload === null ? [] : [id]))
}

describe('a body', () => {
  it('is removed at the start once it is older than the days of the deployment, or than those of its scenario', async () => {
    const { store, open, lines } = await here()
    await filled(store, 'usual', [40, 20, 1])
    await filled(store, 'short', [40, 20, 1])
    await filled(store, 'long', [400, 40, 1])
    await open({
      scenarioDays: new Map([
        ['short', 7],
        ['long', 365],
      ]),
    })
    expect(await kept(store, 'usual')).toEqual(['20 days', '1 days'])
    expect(await kept(store, 'short')).toEqual(['1 days'])
    expect(await kept(store, 'long')).toEqual(['40 days', '1 days'])
    expect(lines.toSorted()).toEqual(['records_expired long1', 'records_expired short2', 'records_expired usual1'])
  })

  it('stays where no days are set, and a scenario may have days alone', async () => {
    const { store, open } = await here()
    await filled(store, 'usual', [4000])
    await filled(store, 'short', [40, 1])
    await open({ days: null, scenarioDays: new Map([['short', 7]]) })
    expect([await kept(store, 'usual'), await kept(store, 'short')]).toEqual([['4000 days'], ['1 days']])
  })

  it('that a sweep left when it was ended is removed by the next start', async () => {
    const { store, open } = await here()
    await (
      await create(store, 'a')
    ).append([
      ...Array.from({ length: 2000 }, (_, at) => record(`old ${at}`, { created_at: NOW - 40 * DAY })),
      record('new', { created_at: NOW - 1 }),
    ])
    let calls = 0
    const ended: { retention?: Retention } = {}
    const counting: Pick<Store, 'scenarios' | 'scenario'> = {
      scenarios: () => store.scenarios(),
      scenario: (name) => {
        const inner = store.scenario(name)
        return {
          ...inner,
          expire: async (page) => {
            if ((calls += 1) === 3) void ended.retention?.close()
            return inner.expire?.(page) ?? { records: 0, bytes: 0, next: null }
          },
        }
      },
    }
    ended.retention = await Retention.open({
      store: counting,
      days: 30,
      scenarioDays: new Map(),
      path: null,
      clock: () => NOW,
      log: () => undefined,
    })
    await ended.retention.sweep()
    expect((await kept(store, 'a')).length).toBeGreaterThan(1)
    await open()
    expect(await kept(store, 'a')).toEqual(['new'])
  })
})

describe('a clock that moved ahead', () => {
  it('removes nothing for a day, says so, and is believed after that day', async () => {
    const made = await here()
    await filled(made.store, 'a', [20, 1])
    const retention = await made.open()
    made.now = NOW + 365 * DAY
    await retention.sweep()
    expect(await kept(made.store, 'a')).toEqual(['20 days', '1 days'])
    expect([retention.heldUntil, made.lines]).toEqual([made.now + DAY, ['retention_held ']])
    made.now += DAY / 2
    await retention.sweep()
    expect(made.lines).toHaveLength(1)
    made.now += DAY / 2
    await retention.sweep()
    expect([await kept(made.store, 'a'), retention.heldUntil]).toEqual([[], null])
  })

  it('and back again removes nothing', async () => {
    const made = await here()
    await filled(made.store, 'a', [20, 1])
    const retention = await made.open()
    made.now = NOW + 365 * DAY
    await retention.sweep()
    made.now = NOW + 1
    await retention.sweep()
    expect([await kept(made.store, 'a'), retention.heldUntil]).toEqual([['20 days', '1 days'], null])
  })

  it('is not believed because records were made by it, nor because the service was started again', async () => {
    const made = await here()
    await filled(made.store, 'a', [20, 1])
    await (await made.open()).close()
    made.now = NOW + 365 * DAY
    await made.store.scenario('a').append([record('by the wrong clock', { created_at: made.now })])
    await (await made.open()).close()
    made.now += 60
    await made.open()
    expect(await kept(made.store, 'a')).toEqual(['20 days', '1 days', 'by the wrong clock'])
  })

  it('is not believed at the first start either, and once more holds once more', async () => {
    const made = await here()
    await filled(made.store, 'a', [20, 1])
    made.now = NOW + 365 * DAY
    const retention = await made.open()
    made.now += 365 * DAY
    await retention.sweep()
    expect([await kept(made.store, 'a'), retention.heldUntil]).toEqual([['20 days', '1 days'], made.now + DAY])
  })
})

it('a file of the clock that is no JSON is written anew, and the newest record says when the clock was right', async () => {
  const made = await here()
  await filled(made.store, 'a', [40, 1])
  writeFileSync(join(made.folder, 'retention.json'), 'no JSON')
  await made.open()
  expect(await kept(made.store, 'a')).toEqual(['1 days'])
  expect(JSON.parse(readFileSync(join(made.folder, 'retention.json'), 'utf8'))).toEqual({ seen_at: NOW, held_at: null })
})

it('a store that cannot remove bodies refuses the start with one line', async () => {
  const made = await here()
  const { store } = made
  const unable: Pick<Store, 'scenarios' | 'scenario'> = {
    scenarios: () => store.scenarios(),
    scenario: (name) => wrapScenario(store.scenario(name), {}),
  }
  await expect(made.open({ store: unable })).rejects.toThrow('unset recording.retention_days, or use another store')
})
