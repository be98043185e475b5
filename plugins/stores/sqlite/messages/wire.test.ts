import { expect, it } from 'vitest'
import type { NewRecord } from '../../../../src/contract/index.ts'
import { Carriers } from './carriers.ts'
import { storageFailed } from '../refusals.ts'
import { fromWire, packGroup, toWire } from './wire.ts'

it('what the disk said comes over with the refusal, for the log', () => {
  const { cause, ...refusal } = fromWire(structuredClone(toWire(storageFailed(new Error('disk I/O error')))))
  expect(refusal).toMatchObject({ kind: 'unavailable', code: 'storage_failed' })
  expect(cause).toMatchObject({ message: 'disk I/O error' })
})

it('payloads lie back to back in the group, byte for byte, also those in pieces, without bytes and of a single one', () => {
  const [whole, one, none] = [bytesOf(5000), bytesOf(1), bytesOf(0)]
  const pieces = [bytesOf(3), none, Buffer.concat([none, bytesOf(70_000)]).subarray(11), one]
  const records = [recordOf('1', whole), { ...recordOf('2', none), pieces }, recordOf('3', none), recordOf('4', one)]
  const carriers = new Carriers()
  const used = carriers.take(80_000)
  Buffer.from(used).fill(0xaa)
  carriers.giveBack(used)
  const { calls, bytes: carrier, byteLength } = packGroup([{ op: 'append', scenario: 's', records }], carriers)
  const expected = Buffer.concat([whole, ...pieces, one])
  expect(byteLength).toBe(expected.length)
  expect(Buffer.from(carrier, 0, byteLength).equals(expected)).toBe(true)
  const untouched = Buffer.from(carrier, byteLength)
  expect(untouched.every((byte) => byte === 0xaa)).toBe(true)
  expect(calls).toMatchObject([['s', 0, [{ 6: whole.length }, { 6: 3 + 69_989 + 1 }, { 6: 0 }, { 6: 1 }]]])
})

const bytesOf = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, at) => (at * 7 + length) % 256))

function recordOf(id: string, payload: Uint8Array): NewRecord {
  return { agent_record_id: id, request_type: 'inference', created_at: 0, references: [], artifact_ref: null, score: null, payload }
}
