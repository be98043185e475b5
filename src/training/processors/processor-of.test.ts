/** Which processor a configuration asks for, and which configurations are refused. */
import { describe, expect, it } from 'vitest'
import { report } from '../../../conformance/processor-samples.ts'
import { isRefusal, type JsonObject } from '../../contract/index.ts'
import { processorOf, type ProcessorOptions } from './processor-of.ts'

const sized = (batch_size: JsonObject[string]): JsonObject => ({ pipeline: { task2batch: { config: { batch_size } } } })
const group = () => ({ key: 'g', slot: '1', size: 1 })

function refusalOf(config: JsonObject, options: ProcessorOptions = { name: 'p' }): unknown {
  try {
    return processorOf(config, options)
  } catch (error) {
    return isRefusal(error) ? { kind: error.kind, message: error.message } : error
  }
}

describe('the processor of a configuration', () => {
  it('learns from reports, one at a time and in every mode, when nothing is said', () => {
    const processor = processorOf({}, { name: 'p' })
    expect(processor).toMatchObject({ name: 'p', reads: ['report'], requestTypes: ['inference', 'report'] })
    expect(processor.modes).toEqual(['auto', 'manual', 'hybrid'])
    expect(processor.status()).toEqual({ batch_size: 1, buffered_units: 0 })
  })

  it('learns from plain traffic where the policy says so', () => {
    const config = { data: { batch_policy: 'records', training_mode: 'auto' }, ...sized(5) }
    const processor = processorOf(config, { name: 'p', modes: ['auto'] })
    expect(processor).toMatchObject({ name: 'p', reads: ['inference'], requestTypes: ['inference'], modes: ['auto'] })
    expect(processor.status()).toEqual({ batch_size: 5, buffered_units: 0 })
  })

  it('collects reports as its recipe groups them', () => {
    const processor = processorOf({ data: { batch_policy: 'reports' } }, { name: 'p', modes: ['auto'], group })
    expect(processor.modes).toEqual(['auto'])
    processor.ingest(report('r', ['a']))
    expect(processor.next(false).samples).toMatchObject([{ group: 'g' }])
  })

  it.each<[JsonObject, string]>([
    [{ data: { batch_policy: 'all' } }, "data.batch_policy: must be 'reports' or 'records'"],
    [{ data: { batch_policy: null } }, "data.batch_policy: must be 'reports' or 'records'"],
    ...[0, -1, 1.5, '3', null, true].map((value): [JsonObject, string] => [
      sized(value),
      'pipeline.task2batch.config.batch_size: must be a whole number of at least 1',
    ]),
  ])('is none for %j', (config, message) => {
    expect(refusalOf(config)).toEqual({ kind: 'invalid', message })
  })

  it.each<[JsonObject, RegExp]>([
    [{ data: 'records' }, /^data: /],
    [{ pipeline: { task2batch: [] } }, /^pipeline\.task2batch: /],
  ])('is none for %j, whose section is no section', (config, message) => {
    expect(refusalOf(config)).toEqual({ kind: 'invalid', message: expect.stringMatching(message) })
  })

  it('is none when groups of reports are to be made of plain traffic', () => {
    expect(refusalOf({ data: { batch_policy: 'records' } }, { name: 'p', group })).toEqual({
      kind: 'invalid',
      message: "data.batch_policy: must be 'reports', because this recipe collects reports in groups",
    })
  })
})
