/** Interrupted and failing steps: a stop during one, a sample that fails every step, and the base of the next one. */
import { existsSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { STEP_FAILURES_MAX, type JsonObject } from '../../src/contract/index.ts'
import { POISON } from '../fixtures/training/broken.ts'
import { LEDGER_RECIPE, named, textAt } from '../spec/support/helpers.ts'
import { fresh, gateIn, memberOf, type Trainee } from '../spec/support/trainee.ts'
import { until } from '../support/wait.ts'
import { BROKEN } from './broken-world.ts'
import { ownWorld, type World } from '../support/world.ts'

const worldOf = (recipe: string): Promise<World> => ownWorld({ backend: 'sqlite', settings: { recipe } })

/** A call whose body has only begun to come; answers how to send the rest, and waits for the status. */
async function beginCall({ address }: World, scenario: string): Promise<() => Promise<number>> {
  const { hostname, port } = new URL(address)
  const body = '{"model":"m","messages":[]}'
  const headers = { ...named(scenario), 'content-length': body.length }
  const call = request({ hostname, port, method: 'POST', path: '/v1/chat/completions', headers, agent: false })
  const status = new Promise<number>((resolve, reject) => {
    call.on('error', reject)
    call.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
  })
  await new Promise((resolve) => call.write(body.slice(0, 5), resolve))
  return () => {
    call.end(body.slice(5))
    return status
  }
}

function isRefused(address: string): Promise<boolean> {
  const { hostname, port } = new URL(address)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    socket.on('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.on('error', () => resolve(true))
  })
}

describe('a service that stops while a step speaks to it', () => {
  it('leaves no row of the step, which is taken again after the start', async () => {
    const here = await worldOf(`${BROKEN}#asking`)
    const s = await fresh(here, 'manual')
    const finish = await beginCall(here, s.name)
    const gate = gateIn(here)
    const asked = await s.ask(`until ${gate.path}`)
    await gate.reached()
    const { address } = here
    const restarted = here.restart()
    await until(() => isRefused(address))
    await until(() => existsSync(`${gate.path}.over`))
    expect(await finish()).toBe(200)
    await gate.open()
    await restarted
    expect(await s.rows()).toEqual([])
    await s.useMode('manual')
    expect(await s.consumer(asked)).toMatchObject({
      step: 1,
      consumed_ids: [asked],
      metrics: expect.not.objectContaining({ skipped: expect.anything() }),
    })
  })
})

describe('an instruction that the machine could not do its part for', () => {
  it('is not consumed, is shown in the status and in its progress, and is tried again [training.machine]', async () => {
    const here = await worldOf(`${BROKEN}#waiting`)
    const s = await fresh(here, 'manual')
    const gate = gateIn(here)
    const asked = await s.ask(`add ${gate.path}`)
    await until(async () => (await s.errors()).length > 0)
    expect(await s.errors()).toEqual([`${s.name}: the agent could not be installed`])
    expect(await s.processor()).toMatchObject({ pending_instructions: 1 })
    expect(await s.reached(asked, 'queued')).toMatchObject({
      settled: false,
      meaning: 'A step could not be taken here, and is tried again: the agent could not be installed',
    })
    expect(await s.rows()).toEqual([])
    await gate.open()
    await s.useMode('manual')
    expect(await s.consumer(asked)).toMatchObject({ step: 1, consumed_ids: [asked] })
    expect(await s.errors()).toEqual([])
  })
})

/** The row of an instruction that is sent now. */
const rowOfAsking = async (s: Trainee): Promise<JsonObject> => s.consumer(await s.ask('add'))

/** Retries at once until that record is consumed. */
async function consumerOf(s: Trainee, id: string): Promise<JsonObject> {
  const isSettled = async (): Promise<boolean> => (await s.rows()).some((row) => JSON.stringify(row['consumed_ids']).includes(id))
  await until(async () => {
    await s.useMode('hybrid')
    return isSettled()
  })
  return s.consumer(id)
}

describe('a unit that makes every step fail', () => {
  it('fails two instructions beside it and no more, and is set aside by failures of its own [training.riding]', async () => {
    const here = await worldOf(`${BROKEN}#poisoned`)
    const s = await fresh(here, 'hybrid')
    const [receipt, report] = await s.reported({ feedback: POISON })
    expect(await s.row(1)).toMatchObject({ consumed_ids: [], metrics: { skipped: 'step failed' } })
    for (let time = 0; time < 2; time += 1)
      expect(await rowOfAsking(s)).toMatchObject({ metrics: { skipped: 'instruction failed', samples_kept: 1 } })
    expect(await rowOfAsking(s)).toMatchObject({ metrics: { saw: { samples: 0 } } })
    const row = await consumerOf(s, report)
    expect(row).toMatchObject({ consumed_ids: [receipt, report].sort(), metrics: { skipped: 'batch set aside after repeated failures' } })
    const [, good] = await s.reported()
    expect(await s.consumer(good)).toMatchObject({ metrics: { saw: { samples: 1 } } })
  })

  it('is set aside no later because instructions succeed in between', async () => {
    const here = await worldOf(`${BROKEN}#poisoned`)
    const s = await fresh(here, 'hybrid')
    await s.reported({ feedback: POISON })
    await s.row(1)
    for (let time = 0; time < 2; time += 1) await rowOfAsking(s)
    const failures = async (): Promise<readonly JsonObject[]> => {
      const all = (await s.rows()).map((row) => memberOf(row, 'metrics'))
      return all.filter((metrics) => metrics['error'] !== undefined && metrics['training_request'] === undefined)
    }
    for (let count = (await failures()).length; count < STEP_FAILURES_MAX; count = (await failures()).length) {
      await rowOfAsking(s)
      await s.useMode('hybrid')
      await until(async () => (await failures()).length > count)
    }
    expect((await failures()).at(-1)).toMatchObject({ skipped: 'batch set aside after repeated failures' })
  })
})

describe('what a scenario no longer keeps in memory', () => {
  it('is still shown by its rows, and the trainer goes on from its latest state over rollbacks and a restart', async () => {
    const here = await worldOf(LEDGER_RECIPE)
    const s = await fresh(here)
    const created = textAt(await s.head(), 'release_id')
    const sent: (readonly string[])[] = []
    for (const steps of [undefined, 1, 2]) {
      const ids = await s.reported()
      sent.push([...ids].sort())
      expect(await s.consumer(ids[1])).toMatchObject({ metrics: { saw: { state: steps === undefined ? {} : { steps } } } })
      expect((await s.move('rollback', created)).status).toBe(200)
    }
    const expected = sent.flatMap((ids) => [ids, []])
    expect((await s.rows()).map((row) => row['consumed_ids'])).toEqual(expected)
    await here.restart()
    const last = await s.reported()
    expect(await s.consumer(last[1])).toMatchObject({ step: 7, metrics: { saw: { state: { steps: 3 } } } })
    expect((await s.rows()).map((row) => row['consumed_ids'])).toEqual([...expected, [...last].sort()])
  })
})
