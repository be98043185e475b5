/** A call whose format no upstream of its model speaks: asked in one that an upstream does speak, and answered in its own. */
import {
  isRefusal,
  upstream,
  type Format,
  type JsonObject,
  type Refusal,
  type Runtime,
  type RuntimeAnswer,
  type RuntimeCall,
  type StreamedAnswer,
  type WholeAnswer,
} from '../contract/index.ts'
import { dialects, translate, translateCount, type DialectSpec, type StreamTranslation, type Translated } from '../dialects/index.ts'
import { BytePieces, withBody, withoutKey, withoutSecrets } from '../kit/index.ts'
import { answerTooLarge, print } from './payload.ts'

/** What a record says of it. */
export interface TranslationMark {
  readonly from: Format
  readonly to: Format
  /** The fields that the upstream was not told of. */
  readonly left_out?: readonly string[]
}

/** An answer in the client's format, with what was done for it. */
export type TranslatedAnswer = RuntimeAnswer & { readonly translation?: TranslationMark }

type AskedCall = Omit<RuntimeCall, 'body' | 'pieces'> & { readonly askedModel: string }

/** What the client sent, and what ids and times of an answer are made of where the upstream gives none. */
interface Sent {
  readonly fields: () => JsonObject
  readonly id: string
  readonly nowSeconds: number
}

interface Asking {
  readonly call: RuntimeCall
  readonly translated: Translated
  readonly mark: TranslationMark
}

/** Null where the call goes as it came: an upstream speaks its format, or nothing could make it understood. */
export function translationOf(runtime: Runtime, asked: AskedCall, sent: Sent): Asking | null {
  const from = dialects[asked.dialect]
  const { asClient } = from.counted ?? from
  const spoken = asClient === undefined ? [] : (runtime.formats?.(asked) ?? [])
  if (spoken.length === 0 || spoken.includes(from.format)) return null
  const targets = spoken.flatMap((format) => targetOf(from, dialects[format]))
  // A count that no upstream can make goes as it came, and is refused by name.
  if (targets.length === 0) return null
  const call = { path: asked.path, body: sent.fields(), id: sent.id, nowSeconds: Math.floor(sent.nowSeconds) }
  let refused: Refusal | null = null
  for (const { to, dialect } of targets) {
    try {
      const translated = from.counted === undefined ? translate(from, to, call) : translateCount(from, to, call)
      const { path, body, leftOut } = translated
      const headers = withoutHeaders(asked.headers, asClient?.headers ?? [])
      return {
        call: withBody({ ...asked, dialect, path, headers, under: underOf(translated) }, new BytePieces([bytesOf(body)])),
        translated,
        mark: { from: from.format, to: to.format, ...(leftOut.length > 0 && { left_out: leftOut }) },
      }
    } catch (error) {
      if (!isRefusal(error)) throw error
      refused ??= error
    }
  }
  throw refused ?? new Error('no format was tried')
}

/** None where the upstream cannot be asked that. */
function targetOf(from: DialectSpec, to: DialectSpec): readonly { readonly to: DialectSpec; readonly dialect: RuntimeCall['dialect'] }[] {
  if (from.counted === undefined) return [{ to, dialect: to.name }]
  const dialect = to.asUpstream?.count?.dialect
  return dialect === undefined ? [] : [{ to, dialect }]
}

const bytesOf = (body: JsonObject): Buffer => Buffer.from(print(body))

const underOf =
  ({ under }: Translated): NonNullable<RuntimeCall['under']> =>
  (model) => {
    const { path, body } = under(model)
    return { path, body: bytesOf(body) }
  }

const withoutHeaders = (headers: RuntimeCall['headers'], names: readonly string[]): RuntimeCall['headers'] =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)))

const isBodySent = (): boolean => true

/** Of a success alone. Nothing holds the bytes that the client sent. */
export function inClientsWords(
  answer: WholeAnswer | StreamedAnswer,
  { translated, mark, call: { answerBytesMax = Number.POSITIVE_INFINITY } }: Asking,
  key: string | null,
  read: (answer: WholeAnswer) => JsonObject,
): TranslatedAnswer {
  if (answer.kind === 'stream')
    return { ...answer, chunks: inFrames(answer.chunks, translated.openStream(), answerBytesMax), isBodySent, translation: mark }
  const { kind, status, headers, by } = answer
  const body = new BytePieces([bytesOf(wholeOf(translated, read(answer), key))])
  return withBody({ kind, status, headers, isBodySent, ...(by && { by }), translation: mark }, body)
}

/** The words of an upstream that failed may hold the key that it was asked with. */
function wholeOf(translated: Translated, answer: JsonObject, key: string | null): JsonObject {
  try {
    return translated.whole(answer)
  } catch (error) {
    throw isRefusal(error) ? upstream(error.code, withoutSecrets(withoutKey(error.message, key))) : error
  }
}

/** Leaving the loop early cancels the call, also before the first piece. What comes is counted here, since some of it may be held back. */
function inFrames(chunks: AsyncIterable<Uint8Array>, stream: StreamTranslation, bytesMax: number): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const source = chunks[Symbol.asyncIterator]()
      const leave = async (): Promise<IteratorResult<Uint8Array>> => {
        await source.return?.()
        return { done: true, value: undefined }
      }
      /** The loop does not leave by itself what fails here. */
      const orLeave = async <T>(work: () => T): Promise<T> => {
        try {
          return work()
        } catch (error) {
          await leave()
          throw error
        }
      }
      let isDone = false
      let bytes = 0
      const framesOf = (piece: Uint8Array): readonly Buffer[] => {
        bytes += piece.byteLength
        if (bytes > bytesMax) throw answerTooLarge(bytesMax)
        return stream.push(piece)
      }
      return {
        return: leave,
        async next(): Promise<IteratorResult<Uint8Array>> {
          while (!isDone) {
            const piece = await source.next()
            const frames = await orLeave(() => (piece.done === true ? stream.end() : framesOf(piece.value)))
            isDone = piece.done === true || stream.isOver
            if (frames.length > 0) return { done: false, value: Buffer.concat(frames) }
          }
          return leave()
        },
      }
    },
  }
}
