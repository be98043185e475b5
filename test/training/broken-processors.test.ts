/** Faulty processors: every sample is trained on once, and only their own scenario is affected. */
import { describe, expect, it } from 'vitest'
import { memberOf, type Trainee } from '../spec/support/trainee.ts'
import { until } from '../support/wait.ts'
import { brokenWorld, type Broken } from './broken-world.ts'

const { here, scenarioOf, neighbour, expectOthersTrain } = brokenWorld()

const consumedBy = async (s: Trainee): Promise<readonly string[]> =>
  (await s.rows()).flatMap(({ consumed_ids }) => (Array.isArray(consumed_ids) ? consumed_ids.map(String) : []))

describe('a processor that gets the consumed records', () => {
  it.each<[string, Broken]>([
    ['throws', 'settleThrows'],
    ['answers what is consumed already', 'settleConsumed'],
  ])('and %s keeps no later report from being learnt from, and none is consumed twice', async (_what, recipe) => {
    const s = await scenarioOf(recipe)
    const sent: string[] = []
    for (let step = 1; step <= 3; step += 1) {
      const ids = await s.reported()
      sent.push(...ids)
      expect(await s.consumer(ids[1])).toMatchObject({ step, consumed_ids: [...ids].sort(), metrics: { saw: { samples: 1 } } })
    }
    expect([...(await consumedBy(s))].sort()).toEqual(sent.sort())
    expect(await s.processor()).toMatchObject({ set_aside: {} })
  })

  it('and offers it again is named in the status, learns nothing twice, and goes on with the next after a restart', async () => {
    const s = await scenarioOf('settleKeeps')
    const first = await s.reported()
    await s.consumer(first[1])
    const second = await s.reported()
    await until(async () => (await s.errors()).some((line) => line.includes('offers records that it does not hold')))
    await expectOthersTrain()
    expect([...(await consumedBy(s))].sort()).toEqual([...first].sort())
    await here.restart()
    expect(await s.consumer(second[1])).toMatchObject({ step: 2, consumed_ids: [...second].sort() })
    await s.remove()
  })
})

describe('a processor whose next batch', () => {
  it.each<[string, Broken, string]>([
    ['is ready and empty', 'hollow', 'offers records that it does not hold'],
    ['holds records it was never handed', 'foreign', 'offers records that it does not hold'],
    ['is nothing at all', 'silent', ''],
    ['is an error without words', 'wordless', 'it failed without saying why'],
  ])('%s is named in the status, leaves no row, and the others train', async (_what, recipe, words) => {
    const s = await scenarioOf(recipe)
    await s.reported()
    await until(async () => (await s.errors()).length > 0)
    expect(await s.errors()).toEqual([expect.stringContaining(words)])
    await s.useMode('hybrid')
    await expectOthersTrain()
    expect(await s.rows()).toEqual([])
    expect((await here.get('/svc/status')).status).toBe(200)
    await s.remove()
  })

  it('is ready and the next moment is not holds up no other scenario, and no report is consumed twice', async () => {
    const s = await scenarioOf('flapping')
    for (let round = 0; round < 4; round += 1) {
      await s.reported()
      expect((await here.get('/svc/status')).status).toBe(200)
    }
    await expectOthersTrain()
    const consumed = await consumedBy(s)
    expect(new Set(consumed).size).toBe(consumed.length)
    expect((await s.rows()).length).toBeLessThanOrEqual(4)
    await s.remove()
  })

  it('holds a record that was never stored beside its own consumes its own once, and a second time gives the batch up', async () => {
    const s = await scenarioOf('mixed')
    const [first, second] = [await s.reported(), await s.reported()]
    expect(await s.consumer(first[1])).toMatchObject({ step: 1, metrics: { saw: { samples: 1 } } })
    expect(await s.consumer(second[1])).toMatchObject({
      step: 2,
      artifact_ref: null,
      metrics: { error: 'the batch holds records that an earlier step consumed' },
    })
    const consumed = await consumedBy(s)
    expect(new Set(consumed).size).toBe(consumed.length)
    expect(await s.rows()).toHaveLength(2)
  })
})

describe('a processor that answers with a promise', () => {
  it('is taken for one that failed over the record, and its rejection ends nothing', async () => {
    const s = await scenarioOf('rejecting')
    await s.reported()
    await until(async () => memberOf(await s.processor(), 'set_aside')['the processor failed over it'] === 1)
    await expectOthersTrain()
    expect(await s.rows()).toEqual([])
  })
})

describe('a processor whose status', () => {
  it.each<[string, Broken]>([
    ['throws', 'statusThrows'],
    ['holds a number that JSON has no word for', 'statusBigInt'],
    ['holds itself', 'statusCycle'],
  ])('%s hides no other scenario, and its own trains', async (_what, recipe) => {
    const s = await scenarioOf(recipe)
    const [, report] = await s.reported()
    await s.consumer(report)
    const answer = await here.get('/svc/status')
    expect(answer.status).toBe(200)
    expect(await s.status()).toEqual({ error: expect.stringContaining(`recipe ${recipe}`) })
    expect(await neighbour.processor()).toMatchObject({ batch_size: 1, buffered_units: 0 })
    expect((await here.get('/metrics')).status).toBe(200)
  })
})
