/** Lists of numbers in the server's own binary format: as text each of them would be written here and parsed there. */

const HEADER_BYTES = 20
const LENGTH_BYTES = 4
/** The server's numbers of these types. */
const [INT8, INT4, FLOAT8] = [20, 23, 701]

type Write = (view: DataView, at: number, value: number) => void

export const int4List = (values: readonly number[]): Buffer => list(values, INT4, 4, (view, at, value) => view.setInt32(at, value))
export const int8List = (values: readonly number[]): Buffer =>
  list(values, INT8, 8, (view, at, value) => view.setBigInt64(at, BigInt(value)))
export const float8List = (values: readonly number[]): Buffer => list(values, FLOAT8, 8, (view, at, value) => view.setFloat64(at, value))

/** One dimension, counted from one, without nulls; each value after its length. */
function list(values: readonly number[], type: number, width: number, write: Write): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + values.length * (LENGTH_BYTES + width))
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (const [index, value] of [1, 0, type, values.length, 1].entries()) view.setInt32(index * LENGTH_BYTES, value)
  let at = HEADER_BYTES
  for (const value of values) {
    view.setInt32(at, width)
    write(view, at + LENGTH_BYTES, value)
    at += LENGTH_BYTES + width
  }
  return bytes
}
