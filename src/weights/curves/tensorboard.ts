/** Writes the numbers of steps as TensorBoard reads them: one folder per scenario, one file per start of the service. */
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bytesField, doubleField, floatField, numberField, textField } from '../formats/protobuf.ts'
import type { CurveSink, Numbers } from './sinks.ts'
import { mkdirp } from '../../kit/index.ts'

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
      await mkdirp(folder)
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

const versionEvent = (seconds: number): Buffer => Buffer.concat([doubleField(1, seconds), textField(3, VERSION)])

function numbersEvent(seconds: number, step: number, numbers: Numbers): Buffer {
  const values = Object.entries(numbers).map(([tag, value]) => bytesField(1, Buffer.concat([textField(1, tag), floatField(2, value)])))
  return Buffer.concat([doubleField(1, seconds), numberField(2, step), bytesField(5, Buffer.concat(values))])
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
