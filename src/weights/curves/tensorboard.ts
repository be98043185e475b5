/** Writes the numbers of steps as TensorBoard reads them: one folder per scenario, one file per start of the service. */
import { appendFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { CurveSink, Numbers } from './sinks.ts'

const VERSION = 'brain.Event:2'
const NAME = 'events.out.tfevents'

export function tensorBoard(directory: string, clock: () => number, id: string): CurveSink {
  const begun = new Set<string>()
  return {
    name: 'TensorBoard',
    async note(scenario, step, numbers) {
      const folder = join(directory, encodeURIComponent(scenario))
      const now = clock()
      // Once a file has its first event, all others are appended.
      const header = begun.has(scenario) ? [] : [recordOf(versionEvent(now))]
      await mkdir(folder, { recursive: true })
      await appendFile(join(folder, `${NAME}.${id}`), Buffer.concat([...header, recordOf(numbersEvent(now, step, numbers))]))
      begun.add(scenario)
    },
  }
}

/** Its length, the sum of that, the bytes, and the sum of them. */
function recordOf(data: Buffer): Buffer {
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(data.length))
  return Buffer.concat([length, maskedSum(length), data, maskedSum(data)])
}

// ── The messages Event, Summary and Value, as protocol buffers ──

const versionEvent = (seconds: number): Buffer => Buffer.concat([double(1, seconds), text(3, VERSION)])

function numbersEvent(seconds: number, step: number, numbers: Numbers): Buffer {
  const values = Object.entries(numbers).map(([tag, value]) => bytes(1, Buffer.concat([text(1, tag), float(2, value)])))
  return Buffer.concat([double(1, seconds), varintField(2, step), bytes(5, Buffer.concat(values))])
}

const key = (field: number, kind: number): Buffer => varint((field << 3) | kind)

function varint(value: number): Buffer {
  const out: number[] = []
  let rest = BigInt(value)
  for (; rest > 127n; rest >>= 7n) out.push(Number(rest & 127n) | 128)
  return Buffer.from([...out, Number(rest)])
}

const varintField = (field: number, value: number): Buffer => Buffer.concat([key(field, 0), varint(value)])
const bytes = (field: number, data: Buffer): Buffer => Buffer.concat([key(field, 2), varint(data.length), data])
const text = (field: number, value: string): Buffer => bytes(field, Buffer.from(value))

function double(field: number, value: number): Buffer {
  const data = Buffer.alloc(8)
  data.writeDoubleLE(value)
  return Buffer.concat([key(field, 1), data])
}

function float(field: number, value: number): Buffer {
  const data = Buffer.alloc(4)
  data.writeFloatLE(value)
  return Buffer.concat([key(field, 5), data])
}

// ── CRC-32C, turned and shifted as the format wants it ──

const POLYNOMIAL = 0x82f63b78
const MASK = 0xa282ead8
const TABLE = Array.from({ length: 256 }, (_, byte) => {
  let sum = byte
  for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ POLYNOMIAL : sum >>> 1
  return sum >>> 0
})

function maskedSum(data: Buffer): Buffer {
  let sum = 0xffffffff
  for (const byte of data) sum = (TABLE[(sum ^ byte) & 255] ?? 0) ^ (sum >>> 8)
  const turned = (sum ^ 0xffffffff) >>> 0
  const out = Buffer.alloc(4)
  out.writeUInt32LE((((turned >>> 15) | (turned << 17)) + MASK) >>> 0)
  return out
}
