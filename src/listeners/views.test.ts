/** What a listener thread knows of scenarios, told by a main thread that answers when the test says so. */
import { expect, it, vi } from 'vitest'
import { emptyExchange } from '../../test/support/services.ts'
import type { NewRecord, Release, Runtime } from '../contract/index.ts'
import type { ScenarioView } from '../scenarios/index.ts'
import { Views, type ViewServices } from './views.ts'

/** As many as are known at once. */
const MANY = 10_000

const head: Release = { release_id: 'r', content_id: 'c', parent_release_id: null }
const plain = (name: string): ScenarioView => ({
  kind: 'plain',
  name,
  start: 'r',
  step: 0,
  head,
  provisional: null,
  pulledId: 'r',
  servesFiles: false,
  model: { url: 'http://127.0.0.1:1', model: null, api: 'openai', apiKey: null },
})

const unasked = (): Promise<never> => Promise.reject(new Error('nothing is asked of the upstream here'))
const runtime: Runtime = { infer: unasked, models: unasked, status: async () => ({}), close: async () => undefined }

function opened(answer: (name: string) => ScenarioView | null, own: Partial<ViewServices> = {}) {
  const views: Views = new Views({
    runtime,
    admit: (_, record) => [record],
    append: async () => 0,
    ...own,
    ask: (name) => void Promise.resolve().then(() => views.take(name, answer(name))),
  })
  return views
}

const wanted = (name: string) => ({ name, start: null, held: null })

it('a scenario that is forgotten while the body of a request comes is asked for again', async () => {
  const views = opened(plain)
  expect(await views.serves(wanted('first'))).toBe(true)
  for (let at = 0; at < MANY; at += 1) await views.serves(wanted(`other ${at}`))
  expect(await views.useOrCreate('first', null, async (scenario) => scenario.pulledId)).toBe('r')
})

it('the scenario that was asked for longest ago is forgotten first', async () => {
  const asked: string[] = []
  const views = opened((name) => {
    asked.push(name)
    return plain(name)
  })
  for (const name of ['busy', 'quiet']) await views.serves(wanted(name))
  for (let at = 0; at < MANY; at += 1) {
    await views.serves(wanted(`other ${at}`))
    await views.serves(wanted('busy'))
  }
  await views.serves(wanted('quiet'))
  expect(asked.filter((name) => !name.startsWith('other'))).toEqual(['busy', 'quiet', 'quiet'])
})

it('a scenario that is gone when the body of a request has come is unknown', async () => {
  let isThere = true
  const views = opened((name) => (isThere ? plain(name) : null))
  expect(await views.serves(wanted('first'))).toBe(true)
  isThere = false
  views.archive('first')
  await expect(views.useOrCreate('first', null, async () => 'used')).rejects.toMatchObject({ code: 'unknown_scenario' })
})

it('a record that was still being redacted when its scenario was archived is not kept under the name', async () => {
  const redacted = Promise.withResolvers<readonly NewRecord[]>()
  const append = vi.fn(async () => 0)
  const views = opened(plain, { admit: () => redacted.promise, append })
  await views.serves(wanted('first'))
  const kept = views.useOrCreate('first', null, ({ keep }) => keep?.(emptyExchange('late')) ?? Promise.resolve())
  views.archive('first')
  redacted.resolve([emptyExchange('late')])
  await expect(kept).rejects.toMatchObject({ code: 'unknown_scenario' })
  expect(append).not.toHaveBeenCalled()
})
