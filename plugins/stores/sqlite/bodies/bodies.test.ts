/** One body at a time: how it is written, and what comes of bytes that are not what was written. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'vitest'
import { Bases } from './bases.ts'
import { checksumOf, isIntact, sha256Of } from './checksum.ts'
import { compress, DamagedBody, LEVEL, readBody, type BodyColumns, type PackedBody } from './bodies.ts'
import { IN_THE_CLEAR, StoreSeal } from '../../common/seal.ts'
import { migrate } from '../open.ts'
import { commonPrefix, makePacking } from './pack.ts'

const TEXT = Array.from({ length: 6000 }, (_, index) => `word${(index * index) % 997}`).join(' ')
const BASE = Buffer.from(`{"messages":["${TEXT}"],"tools":["one","two"]}`)
const NEXT = Buffer.from(`{"messages":["${TEXT}","and one more"],"tools":["one","two"]}`)

describe('with the append', () => {
  it('a body that begins like one before refers to it, and only one that refers to none is referred to', () => {
    const packing = openPacking()
    assert.deepEqual(packing.atOnce(1, 7, BASE), { payload: BASE, size: null, base: null, prefix: null })
    for (const age of [2, 3]) {
      const { payload, ...rest } = packing.atOnce(age, 7, NEXT)
      assert.deepEqual(rest, { size: NEXT.byteLength, base: 1, prefix: commonPrefix(BASE, NEXT) })
      assert.ok(payload.byteLength < 100)
    }
  })
  it('a body refers to none of another scenario', () => {
    const packing = openPacking()
    packing.atOnce(1, 7, BASE)
    assert.equal(packing.atOnce(2, 8, NEXT).base, null)
  })
  it('a body is a base itself once those that refer to its base take as much room', () => {
    const packing = openPacking()
    const bases = new Set<number | null>()
    for (let age = 1, said = TEXT; age <= 60; age += 1, said += noise(`${age}`, 20))
      bases.add(packing.atOnce(age, 7, Buffer.from(said)).base)
    assert.ok(bases.size > 3 && bases.size < 20, `${bases.size} bases`)
  })
  it('small bodies, and large ones that begin otherwise, are written as they came', () => {
    const packing = openPacking()
    packing.atOnce(1, 7, BASE)
    assert.equal(packing.atOnce(2, 7, Buffer.from(noise('else', 700))).size, null)
    assert.equal(packing.atOnce(3, 7, BASE.subarray(0, 20_000)).size, null)
  })
})

describe('when idle', () => {
  it('a body that gets no smaller stays as it is', () => {
    const random = Buffer.concat(Array.from({ length: 100 }, (_, index) => hash('sha512', String(index), 'buffer')))
    assert.equal(openPacking().later(1, null, random), null)
  })
  it('a body refers to an earlier one of its session whatever it begins with, and one that is referred to does not', () => {
    const packing = openPacking()
    packing.later(1, 's', BASE)
    packing.later(2, 't', Buffer.from(noise('t', 300)))
    const changed = Buffer.concat([Buffer.from('at noon'), NEXT])
    assert.equal(packing.later(3, 's', changed)?.base, 1)
    assert.equal(packing.later(4, 's', changed, true)?.base, null)
  })
})

const SEAL = new StoreSeal(IN_THE_CLEAR)

describe('bytes that are not what was written', () => {
  const whole = columns()
  it('read back as they were while they are whole', () => assert.deepEqual(readBody(SEAL, whole), NEXT))
  it('are refused, and never become more than the size that was stored', () => {
    const bomb = compress(Buffer.alloc(64 * 1024 * 1024), null, 0, LEVEL)
    const damages: readonly Partial<BodyColumns>[] = [
      { payload: Buffer.alloc(40) },
      { payload: new Uint8Array() },
      { payload: whole.payload?.subarray(0, 10) ?? null },
      { payload: bomb },
      { payload: bomb, base: null, base_payload: null, prefix: null },
      { size: NEXT.byteLength - 1 },
      { size: NEXT.byteLength + 1 },
      { size: 2 ** 50 },
      { size: 3 },
      { prefix: BASE.byteLength + 1, size: BASE.byteLength + 2 },
      { prefix: 0 },
      { checksum: Buffer.alloc(32) },
      { checksum: Buffer.alloc(4) },
      { checksum: new Uint8Array() },
      { checksum: checksumOf(NEXT).subarray(0, 3) },
      { base_payload: null },
      { base_payload: Buffer.alloc(BASE.byteLength) },
      { base_size: BASE.byteLength },
    ]
    for (const damage of damages)
      assert.throws(() => readBody(SEAL, { ...whole, ...damage }), DamagedBody, JSON.stringify(Object.keys(damage)))
  })
})

describe('a checksum', () => {
  it('of either kind is of these bytes and of no others', () => {
    for (const checksum of [checksumOf(BASE), sha256Of(BASE)]) {
      assert.ok(isIntact(BASE, checksum))
      for (const at of [0, 1000, BASE.byteLength - 1]) {
        const changed = Buffer.from(BASE)
        changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
        assert.ok(!isIntact(changed, checksum))
      }
      assert.ok(!isIntact(BASE.subarray(1), checksum))
      assert.ok(!isIntact(new Uint8Array(), checksum))
    }
  })
  it('that is cut short or is missing is of no bytes', () => {
    for (const checksum of [new Uint8Array(), checksumOf(BASE).subarray(0, 3), sha256Of(BASE).subarray(0, 31)])
      assert.ok(!isIntact(BASE, checksum))
  })
})

it('the common beginning of two bodies is counted to the byte', () => {
  for (const length of [0, 1, 63, 64, 4095, 4096, 4097, 70_000]) {
    const one = Buffer.alloc(length, 'x')
    assert.equal(commonPrefix(one, Buffer.concat([one, Buffer.from('y')])), length)
    assert.equal(commonPrefix(Buffer.concat([one, Buffer.from('zz')]), Buffer.concat([one, Buffer.from('yz')])), length)
  }
})

/** Writes what is packed, since bases are read from the database. */
function openPacking() {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const packing = makePacking(db, new Bases(), SEAL)
  const insert = db.prepare("INSERT INTO body VALUES (?, 7, ?, x'', ?, ?, NULL)")
  const write = (age: number, { payload, size }: PackedBody) => insert.run(age, age, payload, size)
  return {
    atOnce(age: number, scenario: number, payload: Uint8Array): PackedBody {
      const packed = packing.atOnce(age, scenario, payload)
      write(age, packed)
      return packed
    },
    later(age: number, session: string | null, payload: Uint8Array, isBase = false): PackedBody | null {
      const packed = packing.later({ age, scenario: 7, session }, payload, isBase)
      write(age, packed ?? { payload, size: null, base: null, prefix: null })
      return packed
    },
  }
}

const IN_CLEAR = { body_scenario: 7, sealed_for: null, base_sealed_for: null }

function columns(): BodyColumns {
  const prefix = commonPrefix(BASE, NEXT)
  const checksum = checksumOf(NEXT)
  const payload = compress(NEXT, BASE, prefix, LEVEL)
  return { payload, checksum, size: NEXT.byteLength, base: 1, prefix, base_payload: BASE, base_size: null, ...IN_CLEAR }
}

/** Text without repetitions. */
const noise = (seed: string, hashes: number): string =>
  Array.from({ length: hashes }, (_, index) => hash('sha256', `${seed} ${index}`)).join('')
