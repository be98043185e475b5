/** Weight jobs of two services over one PostgreSQL: one trainer never has two. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { StepResult, Store } from '../../src/contract/index.ts'
import { makeWeightLane } from '../../src/training/hosts/weight-lane.ts'
import postgres from '../../plugins/stores/postgres/index.ts'
import { oneStep } from '../fixtures/trainers/hosts.ts'
import { orderTo, trainerOf } from '../fixtures/trainers/orders.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'

const JOBS = Number(process.env['WEIGHT_JOBS'] ?? 12)
const REJECTED: StepResult = { kind: 'reject' }

let database: PostgresServer
beforeAll(async () => {
  database = await startPostgres({ settings: { fsync: 'off' } })
})
afterAll(() => database.stop())

it('jobs of two services take turns at the trainer: never two at once, and each is done', { timeout: 120_000 }, async () => {
  const trainer = { at: 0, most: 0, done: 0 }
  const step = async (): Promise<StepResult> => {
    trainer.at += 1
    trainer.most = Math.max(trainer.most, trainer.at)
    await sleep(5)
    trainer.at -= 1
    trainer.done += 1
    return REJECTED
  }
  const hosts = await Promise.all(
    ['a', 'b'].map(async () => {
      const store: Store = await postgres.plugin.make({ url: database.url, schema: 'jobs' })
      onTestFinished(() => store.close())
      return makeWeightLane(store).hostFor(() => ({ step }))
    }),
  )
  await Promise.all(
    hosts.flatMap((host, at) =>
      ['north', 'south'].map(async (scenario) => {
        for (let job = 0; job < JOBS / 4; job += 1) await oneStep(host, trainerOf(`${scenario} ${at}`), orderTo('anything'))
      }),
    ),
  )
  expect(trainer).toEqual({ at: 0, most: 1, done: JOBS })
})
