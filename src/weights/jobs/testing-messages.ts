/** The other side of a pass in protocol buffers, for the trainer of tests: what was sent as JSON, and an answer as a message. */
import type { JsonObject } from '../../contract/index.ts'
import { listOf, objectOf, objectsOf } from '../../dialects/index.ts'
import { bytesField, doubleField, fieldsIn, numberField, textField, type MessageField } from '../formats/protobuf.ts'

type Fields = ReadonlyMap<number, readonly MessageField[]>

export function passIn(sent: Buffer): JsonObject {
  const fields = read(sent)
  const call = fields.get(6) === undefined ? 'forward_backward' : 'forward'
  const data = (fields.get(3) ?? []).map((datum) => {
    const { chunk, tensors } = { chunk: read(read(first(read(datum), 1)).get(1)?.[0]), tensors: read(datum).get(2) ?? [] }
    const inputs = tensors.map((entry) => [textOf(read(entry), 1), tensorIn(read(first(read(entry), 2)))] as const)
    return {
      model_input: { chunks: [{ type: 'encoded_text', tokens: ints(first(chunk, 1), 4) }] },
      loss_fn_inputs: Object.fromEntries(inputs),
    }
  })
  const settings = (fields.get(5) ?? []).map((entry) => [textOf(read(entry), 1), Number(first(read(entry), 2))] as const)
  const given = { data, loss_fn: textOf(fields, 4), loss_fn_config: Object.fromEntries(settings) }
  return { model_id: textOf(fields, 1), seq_id: Number(first(fields, 2)), [`${call}_input`]: given }
}

function tensorIn(fields: Fields): JsonObject {
  const isWhole = first(fields, 3) === 2
  const bytes = first(fields, 1)
  if (!Buffer.isBuffer(bytes)) throw new Error('a tensor without bytes')
  const floats = Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(4 * at))
  return {
    data: isWhole ? ints(bytes, 8) : floats,
    dtype: isWhole ? 'int64' : 'float32',
    shape: [...listOf([first(fields, 4)].map(Number))],
  }
}

function ints(bytes: MessageField | undefined, width: 4 | 8): readonly number[] {
  if (!Buffer.isBuffer(bytes)) return []
  return Array.from({ length: bytes.length / width }, (_, at) =>
    width === 4 ? bytes.readInt32LE(4 * at) : Number(bytes.readBigInt64LE(8 * at)),
  )
}

function read(value: MessageField | undefined): Fields {
  const fields = Buffer.isBuffer(value) ? fieldsIn(value) : null
  if (fields === null) throw new Error('no message')
  return fields
}

const first = (fields: Fields, number: number): MessageField | undefined => fields.get(number)?.[0]
const textOf = (fields: Fields, number: number): string => String(first(fields, number) ?? '')

export function passOut(answer: JsonObject): Buffer {
  const rows = objectsOf(answer['loss_fn_outputs']).map(({ logprobs }) => listOf(objectOf(logprobs)['data']).map(Number))
  const ends = rows.reduce((all, row) => [...all, (all.at(-1) ?? 0) + 4 * row.length], [0])
  const numbers = Buffer.from(Float32Array.from(rows.flat()).buffer)
  const places = Buffer.from(BigInt64Array.from(ends, BigInt).buffer)
  const tensor = Buffer.concat([bytesField(1, numbers), bytesField(2, places), numberField(3, 1)])
  const entry = Buffer.concat([textField(1, 'logprobs'), bytesField(2, tensor)])
  const metrics = Object.entries(objectOf(answer['metrics'])).map(([name, value]) =>
    bytesField(3, Buffer.concat([textField(1, name), doubleField(2, Number(value))])),
  )
  return Buffer.concat([textField(1, 'x'), bytesField(2, Buffer.concat([bytesField(2, entry), numberField(3, rows.length)])), ...metrics])
}
