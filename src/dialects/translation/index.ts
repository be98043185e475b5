/** Translates a call from the format of a client into that of an upstream, and the answer back. Pure: nothing is asked here. */
import { invalid, JSON_DEPTH_MAX, STREAM_FRAME_BYTES_MAX, upstream, type JsonObject } from '../../contract/index.ts'
import { firstCodePoints, FrameSplitter, isDeeperThan, readEvent } from '../../kit/index.ts'
import type { DialectSpec } from '../dialect.ts'
import { parsedExactly } from '../digits.ts'
import { isObject } from '../values.ts'
import type { Asked } from './asked.ts'
import { Untranslatable } from './rules.ts'
import type { AnswerPiece, PieceReader, AnswerListener, PieceWriter } from './pieces.ts'

export interface ClientCall {
  readonly path: string
  readonly body: JsonObject
  /** What the answer's ids are made of where the upstream gives none. */
  readonly id: string
  readonly nowSeconds: number
}

interface UpstreamCall {
  readonly path: string
  readonly body: JsonObject
}

export interface Translated extends UpstreamCall {
  /** The same call under the upstream's own name of the model, which decides more than the name in some formats. */
  readonly under: (model: string) => UpstreamCall
  /** The fields that the upstream is not told of: the answer is right without them. */
  readonly leftOut: readonly string[]
  /** The client's answer. Throws Refusal 'upstream' for what it has no words for. */
  whole(answer: JsonObject): JsonObject
  openStream(): StreamTranslation
}

/** Throws Refusal 'invalid' with the name of the first field that cannot be translated. */
export function translate(from: DialectSpec, to: DialectSpec, call: ClientCall): Translated {
  const { asClient: client } = from
  const { asUpstream: target } = to
  if (client === undefined || target === undefined || from.openStream === undefined)
    throw new Error(`no call of ${from.name} is translated to ${to.name}`)
  if (isDeeperThan(call.body, JSON_DEPTH_MAX))
    throw invalid('nested_too_deep', `the body is nested deeper than ${JSON_DEPTH_MAX} levels; flatten it`)
  const { openStream } = from
  try {
    const leftOut: string[] = []
    client.fields(call.body, '', leftOut)
    const asked = askedIn(from, call)
    const path = (model: string): string => target.path(model, asked.isStreamed)
    const body = target.ask(asked, leftOut)
    const listener = listenerOf(asked, call)
    return {
      path: path(asked.model),
      body,
      under: (model) => ({ path: path(model), body: target.ask({ ...asked, model }, []) }),
      leftOut,
      whole: (answer) => wholeAnswer(target.hear(), client.say(listener), openStream(), answer),
      openStream: () => new StreamTranslation(target.hear(), client.say(listener)),
    }
  } catch (error) {
    if (!(error instanceof Untranslatable)) throw error
    const [where, why] = [error.where, error.message].map((words) => firstCodePoints(words, QUOTED_CHARACTERS_MAX))
    throw invalid(
      CODE,
      `${where}: cannot be translated from ${from.reader.title} to ${to.reader.title}: ${why}; leave it out, or set an upstream that speaks ${from.reader.title}`,
    )
  }
}

/** The same of a call that only counts tokens, by the upstream's own counting. */
export function translateCount(from: DialectSpec, to: DialectSpec, call: ClientCall): Translated {
  const { counted, writeCount } = from
  const count = to.asUpstream?.count
  if (counted === undefined || writeCount === undefined || count === undefined)
    throw new Error(`no count of ${from.name} is translated to ${to.name}`)
  const { under, ...translated } = translate(counted, to, call)
  const asking = (model: string, body: JsonObject): UpstreamCall => ({ path: count.path(model), body: count.ask(model, body) })
  return {
    ...translated,
    ...asking(counted.modelIn(call.path, call.body), translated.body),
    under: (model) => asking(model, under(model).body),
    whole(answer) {
      const tokens = count.tokensIn(answer)
      if (tokens === null) throw upstream('upstream_untranslatable', 'the upstream answered without a count of tokens')
      return writeCount(tokens)
    },
  }
}

const CODE = 'cannot_translate'
/** Names of fields and tools are the client's, of any length. */
const QUOTED_CHARACTERS_MAX = 200

function askedIn(from: DialectSpec, { path, body }: ClientCall): Asked {
  const client = from.asClient
  if (client === undefined) throw new Error('a format that no client of is translated')
  const conversation = client.conversation?.(body) ?? from.reader.read(body)
  const model = from.modelIn(path, body)
  if (model === '') throw new Untranslatable('model', 'it is missing')
  if (!model.isWellFormed()) throw new Untranslatable('model', 'it holds half of a character')
  const names = new Set<string>()
  for (const { name } of conversation.tools) {
    if (names.has(name)) throw new Untranslatable('tools', `two of them are named ${name}`)
    names.add(name)
  }
  return { ...conversation, ...client.besides(body), model, isStreamed: from.isStreamed(path, body) }
}

const listenerOf = ({ model, tools }: Asked, { body, id, nowSeconds }: ClientCall): AnswerListener => ({
  request: body,
  model,
  id,
  nowSeconds,
  tools: new Map(tools.map(({ name, shape, namespace }) => [name, { isCustom: shape === 'custom', namespace }])),
})

/** What the frames of the same answer amount to, so that whole and streamed answers cannot differ. */
function wholeAnswer(
  hearing: PieceReader,
  saying: PieceWriter,
  reader: ReturnType<NonNullable<DialectSpec['openStream']>>,
  answer: JsonObject,
): JsonObject {
  for (const said of hearing.takeWhole(answer)) {
    if (said.kind === 'failure') throw upstream('upstream_untranslatable', said.message)
    for (const frame of saying.say(said)) reader.take(frame)
  }
  return reader.answer()
}

/** Takes the bytes of an upstream's stream in any pieces, and gives the frames of the client's. It holds one frame and what is open. */
export class StreamTranslation {
  readonly #splitter = new FrameSplitter()
  readonly #hearing: PieceReader
  readonly #saying: PieceWriter
  #isOver = false

  constructor(hearing: PieceReader, saying: PieceWriter) {
    this.#hearing = hearing
    this.#saying = saying
  }

  /** Whether the answer is said: whatever else the upstream sends is of no use. */
  get isOver(): boolean {
    return this.#isOver
  }

  push(chunk: Uint8Array): readonly Buffer[] {
    const frames = this.#splitter.push(chunk).flatMap((frame) => this.#take(frame))
    if (this.#splitter.restBytes > STREAM_FRAME_BYTES_MAX) throw new Error('the upstream sent an event longer than this service holds')
    return frames
  }

  /** The stream ended. Some upstreams close without the blank line that ends a frame. */
  end(): readonly Buffer[] {
    const { rest } = this.#splitter
    return [...(rest.length > 0 ? this.#take(rest) : []), ...this.#say(this.#hearing.close())]
  }

  #take(frame: Buffer): readonly Buffer[] {
    const event = readEvent(frame)
    if (event === null) return []
    const data = parsedExactly(event.data)
    return this.#say(this.#hearing.take(isObject(data) ? data : null, event.data))
  }

  #say(all: Iterable<AnswerPiece>): readonly Buffer[] {
    const frames: Buffer[] = []
    for (const said of all) {
      if (this.#isOver) break
      for (const frame of this.#saying.say(said)) frames.push(frame)
      if (said.kind === 'over' || said.kind === 'failure') this.#isOver = true
    }
    return frames
  }
}
