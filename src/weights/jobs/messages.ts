/** A pass at a trainer in protocol buffers, for servers that take and answer it in no other form. */
import type { JsonObject } from '../../contract/index.ts'
import { listOf, objectOf, objectsOf, textOf } from '../../dialects/index.ts'
import { bytesField, doubleField, fieldsIn, numberField, textField, varint, type MessageField } from '../formats/protobuf.ts'

export const PROTOBUF = 'application/x-protobuf'
const PASSES: ReadonlySet<string> = new Set(['forward', 'forward_backward'])
const [FLOAT32, INT64] = [1, 2]

/** Only passes have a message; everything else is JSON on every server. */
export const hasMessage = (call: string): boolean => PASSES.has(call)

/** The body that JSON would have, as a message. */
export function passMessage(call: string, body: JsonObject): Buffer {
  const given = objectOf(body[`${call}_input`])
  const settings = Object.entries(objectOf(given['loss_fn_config']))
  return Buffer.concat([
    textField(1, textOf(body['model_id'])),
    numberField(2, Number(body['seq_id'])),
    ...objectsOf(given['data']).map((datum) => bytesField(3, datumMessage(datum))),
    textField(4, textOf(given['loss_fn'])),
    ...settings.map(([name, value]) => bytesField(5, Buffer.concat([textField(1, name), doubleField(2, Number(value))]))),
    ...(call === 'forward' ? [numberField(6, 1)] : []),
  ])
}

function datumMessage(datum: JsonObject): Buffer {
  const chunks = objectsOf(objectOf(datum['model_input'])['chunks'])
  const tensors = Object.entries(objectOf(datum['loss_fn_inputs']))
  return Buffer.concat([
    ...chunks.map(({ tokens }) => bytesField(1, bytesField(1, bytesField(1, Buffer.from(Int32Array.from(listOf(tokens), Number).buffer))))),
    ...tensors.map(([name, tensor]) => bytesField(2, Buffer.concat([textField(1, name), bytesField(2, tensorMessage(objectOf(tensor)))]))),
  ])
}

/** Little-endian, as all machines are that this service runs on. */
function tensorMessage({ data, dtype, shape }: JsonObject): Buffer {
  const numbers = listOf(data).map(Number)
  const bytes = dtype === 'int64' ? BigInt64Array.from(numbers, BigInt).buffer : Float32Array.from(numbers).buffer
  return Buffer.concat([
    bytesField(1, Buffer.from(bytes)),
    numberField(3, dtype === 'int64' ? INT64 : FLOAT32),
    bytesField(4, Buffer.concat(listOf(shape).map((length) => varint(Number(length))))),
  ])
}

/** What JSON would have said; null where the bytes are no answer to a pass. */
export function passAnswer(data: Buffer): JsonObject | null {
  const answer = fieldsIn(data)
  const record = answer === null ? null : messageOf(answer.get(2)?.at(-1))
  if (answer === null || record === null) return null
  const named = new Map((record.get(2) ?? []).flatMap((entry) => entryOf(entry) ?? []))
  const rows = rowsOf(messageOf(named.get('logprobs')))
  if (rows === null || rows.length !== record.get(3)?.at(-1)) return null
  const metrics = (answer.get(3) ?? []).flatMap((entry) => entryOf(entry) ?? [])
  return {
    loss_fn_outputs: rows.map((numbers) => ({ logprobs: { data: numbers } })),
    metrics: Object.fromEntries(metrics.flatMap(([name, value]) => (typeof value === 'number' ? [[name, value]] : []))),
  }
}

const messageOf = (value: MessageField | undefined) => (Buffer.isBuffer(value) ? fieldsIn(value) : null)

function entryOf(value: MessageField): (readonly [string, MessageField])[] | null {
  const entry = messageOf(value)
  const [name, held] = [entry?.get(1)?.at(-1), entry?.get(2)?.at(-1)]
  return Buffer.isBuffer(name) && held !== undefined ? [[name.toString(), held]] : null
}

/** All rows one after the other, and where each begins and ends, in bytes. */
function rowsOf(tensor: ReturnType<typeof fieldsIn>): readonly (readonly number[])[] | null {
  const [data, ends] = [tensor?.get(1)?.at(-1), tensor?.get(2)?.at(-1)]
  if (!Buffer.isBuffer(data) || !Buffer.isBuffer(ends) || tensor?.get(3)?.at(-1) !== FLOAT32 || ends.length % 8 !== 0) return null
  const at = Array.from({ length: ends.length / 8 }, (_, n) => Number(ends.readBigInt64LE(8 * n)))
  const isSound = at[0] === 0 && at.at(-1) === data.length && at.every((end, n) => end % 4 === 0 && end >= (at[n - 1] ?? 0))
  if (!isSound) return null
  return at.slice(1).map((end, n) => Array.from({ length: (end - (at[n] ?? 0)) / 4 }, (_, t) => data.readFloatLE((at[n] ?? 0) + 4 * t)))
}
