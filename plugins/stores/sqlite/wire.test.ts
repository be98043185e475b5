import { expect, it } from 'vitest'
import { storageFailed } from './refusals.ts'
import { fromWire, toWire } from './wire.ts'

it('what the disk said comes over with the refusal, for the log', () => {
  const { cause, ...refusal } = fromWire(structuredClone(toWire(storageFailed(new Error('disk I/O error')))))
  expect(refusal).toMatchObject({ kind: 'unavailable', code: 'storage_failed' })
  expect(cause).toMatchObject({ message: 'disk I/O error' })
})
