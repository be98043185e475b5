/** The numbers of a tensor in a GGUF file, whichever way they are stored there. */
import { unsupported } from '../../src/contract/index.ts'
import { floatsOf } from '../../src/weights/formats/tensor.ts'

export interface Storage {
  /** Rows are divided into blocks of so many numbers. */
  readonly blockNumbers: number
  readonly blockBytes: number
  /** Of whole blocks. The very numbers that llama.cpp computes with: nothing is rounded once more. */
  numbers(bytes: Uint8Array): Float32Array
}

/** By the format's number for it. `about` says whose it is. */
export function storageOf(type: number, about: string): Storage {
  const name = TYPES[type] ?? `number ${type} of the format`
  const storage = Object.hasOwn(STORAGES, name) ? STORAGES[name] : undefined
  if (storage !== undefined) return storage
  throw unsupported(
    'unsupported_quantisation',
    `${about} is stored as ${name}; take a file whose tensors are all ${Object.keys(STORAGES).join(', ')}`,
  )
}

/** Each at the place of its number. */
const TYPES = (
  'F32 F16 Q4_0 Q4_1 Q4_2 Q4_3 Q5_0 Q5_1 Q8_0 Q8_1 Q2_K Q3_K Q4_K Q5_K Q6_K Q8_K IQ2_XXS IQ2_XS IQ3_XXS IQ1_S IQ4_NL IQ3_S IQ2_S IQ4_XS ' +
  'I8 I16 I32 I64 F64 IQ1_M BF16'
).split(' ')

const BLOCK = 32
const HALF_BYTES = 2

const STORAGES: Readonly<Record<string, Storage>> = {
  F32: plain('F32', 4),
  F16: plain('F16', 2),
  BF16: plain('BF16', 2),
  // A factor, and whole numbers from -128 on.
  Q8_0: blocks(1, BLOCK, ([factor], whole, put) => {
    for (let at = 0; at < BLOCK; at++) put(at, (((whole[at] ?? 0) << 24) >> 24) * factor)
  }),
  // A factor, and sixteen pairs of whole numbers from -8 on: the low halves of the bytes, then the high ones.
  Q4_0: blocks(1, BLOCK / 2, ([factor], pairs, put) => {
    for (let at = 0; at < BLOCK; at++) put(at, (nibble(pairs, at) - 8) * factor)
  }),
  // A factor and what is added, and whole numbers from 0 on.
  Q4_1: blocks(2, BLOCK / 2, ([factor, least], pairs, put) => {
    for (let at = 0; at < BLOCK; at++) put(at, nibble(pairs, at) * factor + least)
  }),
}

function plain(dtype: 'F32' | 'F16' | 'BF16', width: number): Storage {
  return { blockNumbers: 1, blockBytes: width, numbers: (bytes) => floatsOf({ dtype, shape: [], bytes }) }
}

type ReadBlock = (halves: readonly [number, number], wholes: Uint8Array, put: (at: number, number: number) => void) => void

/** Each begins with one or two numbers of F16. */
function blocks(halfCount: 1 | 2, wholeBytes: number, read: ReadBlock): Storage {
  const headBytes = halfCount * HALF_BYTES
  const blockBytes = headBytes + wholeBytes
  return {
    blockNumbers: BLOCK,
    blockBytes,
    numbers(bytes) {
      const count = bytes.length / blockBytes
      const halves = halvesOf(bytes, blockBytes, headBytes)
      const result = new Float32Array(count * BLOCK)
      for (let block = 0; block < count; block++) {
        const first = block * halfCount
        const wholes = bytes.subarray(block * blockBytes + headBytes, (block + 1) * blockBytes)
        read([halves[first] ?? 0, halves[first + 1] ?? 0], wholes, (at, number) => {
          result[block * BLOCK + at] = number
        })
      }
      return result
    },
  }
}

function halvesOf(bytes: Uint8Array, blockBytes: number, headBytes: number): Float32Array {
  const count = bytes.length / blockBytes
  const heads = new Uint8Array(count * headBytes)
  for (let block = 0; block < count; block++)
    heads.set(bytes.subarray(block * blockBytes, block * blockBytes + headBytes), block * headBytes)
  return floatsOf({ dtype: 'F16', shape: [], bytes: heads })
}

const nibble = (pairs: Uint8Array, at: number): number => {
  const pair = pairs[at % (BLOCK / 2)] ?? 0
  return at < BLOCK / 2 ? pair & 15 : pair >> 4
}
