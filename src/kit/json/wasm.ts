/** The few WebAssembly instructions that scanning needs, each as its bytes, and a module around one function. */

type Code = readonly number[]

const LOAD_BYTE = 0x2d
const AS_BYTES = [0x00]

export const local = {
  get: (index: number): Code => [0x20, index],
  set: (index: number): Code => [0x21, index],
  /** Sets it and leaves the value. */
  tee: (index: number): Code => [0x22, index],
}

export const number = {
  of: (value: number): Code => [0x41, ...signed(value)],
  isZero: [0x45],
  equals: [0x46],
  differs: [0x47],
  isBelow: [0x49],
  isAtLeast: [0x4f],
  trailingZeros: [0x68],
  add: [0x6a],
  and: [0x71],
  byteAt: (offset: number): Code => [LOAD_BYTE, ...AS_BYTES, offset],
} as const

/** Sixteen bytes at once. */
export const vector = {
  at: simd(0x00, ...AS_BYTES, 0),
  fourBytesAt: (offset: number): Code => simd(0x5c, ...AS_BYTES, offset),
  /** These bytes; the first fills what they leave. */
  of: (...bytes: readonly number[]): Code => simd(0x0c, ...bytes, ...Array<number>(16 - bytes.length).fill(bytes[0] ?? 0)),
  filledWith: simd(0x0f),
  equals: simd(0x23),
  isBelow: simd(0x26),
  or: simd(0x50),
  isAny: simd(0x53),
  /** A bit per byte. */
  bits: simd(0x64),
  minus: simd(0x71),
} as const

/** A branch says how many blocks it leaves: 0 is its own. A loop that is left so begins again. */
export const loop = (...body: readonly Code[]): Code => [0x03, 0x40, ...body.flat(), END]
export const when = (...body: readonly Code[]): Code => [0x04, 0x40, ...body.flat(), END]
export const branch = (blocks: number): Code => [0x0c, blocks]
export const branchIf = (blocks: number): Code => [0x0d, blocks]
export const answer = (value: Code): Code => [...value, 0x0f]

const MAGIC = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
const END = 0x0b
const I32 = 0x7f
const V128 = 0x7b

/** A module with `memory`, and `run(i32, i32): i32` with two locals more: a vector and a number. */
export function moduleOf(...body: readonly Code[]): Uint8Array {
  const code = [2, 1, V128, 1, I32, ...body.flat(), END]
  return Uint8Array.from([
    ...MAGIC,
    ...section(1, [1, 0x60, 2, I32, I32, 1, I32]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [2, ...name('memory'), 2, 0, ...name('run'), 0, 0]),
    ...section(10, [1, ...unsigned(code.length), ...code]),
  ])
}

const section = (id: number, content: Code): Code => [id, ...unsigned(content.length), ...content]
const name = (text: string): Code => [text.length, ...Buffer.from(text)]

function simd(code: number, ...rest: Code): Code {
  return [0xfd, ...unsigned(code), ...rest]
}

function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >> 7)]
}

function signed(value: number): Code {
  return value >= -0x40 && value < 0x40 ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)]
}

export interface Instance {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number }
  readonly run: (first: number, second: number) => number
}

/** The part of the global object that is used here; TypeScript knows it only in browsers. */
declare const WebAssembly: {
  validate(program: Uint8Array): boolean
  readonly Module: new (program: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: Instance }
}

/** Null where the processor lacks such instructions. */
export function compile(program: Uint8Array): (() => Instance) | null {
  if (!WebAssembly.validate(program)) return null
  const module = new WebAssembly.Module(program)
  return () => new WebAssembly.Instance(module).exports
}
