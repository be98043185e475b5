/** Requests and answers of every format in those of every other, there and back. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chatStreams } from '../../../test/support/chat-streams.ts'
import { eventsOf } from '../../../test/support/reading.ts'
import { isRefusal, type Json, type JsonObject } from '../../contract/index.ts'
import { writeEvent } from '../../kit/index.ts'
import { dialects, type DialectSpec } from '../index.ts'
import type { Conversation, Part } from '../conversation.ts'
import { isInstruction, withResultsApart } from '../conversation.ts'
import { isObject, parsed } from '../values.ts'
import { translate, type Translated } from './index.ts'
import type { AnswerPiece, PieceReader, AnswerListener } from './pieces.ts'
import { answer, asked } from './testing/arbitrary.ts'

/** Of each property, for each pair of formats. */
const RUNS = 25

const { chat, responses, messages, gemini } = dialects
const formats = [chat, responses, messages, gemini]
const pairs = formats.flatMap((from) =>
  formats.filter((to) => to !== from).map((to) => ({ title: `${from.name} on ${to.name}`, from, to })),
)

const translated = (from: DialectSpec, to: DialectSpec, body: JsonObject, path = pathOf(from)): Translated =>
  translate(from, to, { path, body, id: 'made-up', nowSeconds: 1_700_000_000 })
const pathOf = (from: DialectSpec, isStreamed = false): string => needed(from.asUpstream).path('m-1', isStreamed)

/** Throws where the test asks for what the format has not. */
function needed<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the format does not have it')
  return value
}

/** JSON text, since a part that is undefined is not sent. */
const sent = (value: JsonObject): JsonObject => JSON.parse(JSON.stringify(value))

describe.each(pairs)('a request of $title', ({ from, to }) => {
  it('says the same', () => {
    fc.assert(
      fc.property(asked, (one) => {
        const request = sent(needed(from.asUpstream).ask(one, []))
        const { body, path } = translated(from, to, request, pathOf(from, one.isStreamed))
        expect(essence(to.reader.read(sent(body)))).toEqual(essence(from.reader.read(request)))
        expect(to.isStreamed(path, sent(body))).toBe(one.isStreamed)
      }),
      { numRuns: RUNS },
    )
  })

  it('with a field that is not known, wherever it stands, is refused by its name', () => {
    fc.assert(
      fc.property(asked, fc.nat(), (one, at) => {
        const request = sent(needed(from.asUpstream).ask(one, []))
        const places = objectPlaces(request, '')
        const place = places[at % places.length] ?? { object: request, where: '' }
        Object.assign(place.object, { made_up: 1 })
        expect(refusalOf(() => translated(from, to, request))).toMatch(
          new RegExp(`^${place.where === '' ? '' : `${place.where}\\.`}made_up: `),
        )
      }),
      { numRuns: RUNS },
    )
  })

  it('that is any JSON is translated or refused', () => {
    fc.assert(
      fc.property(asked, fc.nat(), fc.jsonValue(), (one, at, value) => {
        const request = sent(needed(from.asUpstream).ask(one, []))
        const places = objectPlaces(request, '')
        const object = places[at % places.length]?.object ?? request
        const [key = 'model'] = Object.keys(object).slice(at % Math.max(1, Object.keys(object).length))
        Object.assign(object, { [key]: value })
        try {
          translated(from, to, request)
        } catch (error) {
          expect(isRefusal(error) && error.code).toBe('cannot_translate')
        }
      }),
      { numRuns: RUNS },
    )
  })
})

describe.each(pairs)('a request of $title', ({ from, to }) => {
  it('and back is the request again', () => {
    fc.assert(
      fc.property(asked, (one) => {
        const request = sent(needed(from.asUpstream).ask(one, []))
        const there = translated(from, to, request, pathOf(from, one.isStreamed))
        const back = translated(to, from, sent(there.body), there.path)
        expect({ path: back.path, body: sent(back.body) }).toEqual({ path: pathOf(from, one.isStreamed), body: request })
      }),
      { numRuns: RUNS },
    )
  })
})

const OF_CLIENTS = new Set(['parameters', 'input_schema', 'schema', 'parametersJsonSchema', 'responseJsonSchema', 'args', 'response'])

/** The objects of a request that are the format's own; schemas and inputs are the client's. */
function objectPlaces(value: Json, where: string): readonly { readonly object: JsonObject; readonly where: string }[] {
  if (Array.isArray(value)) return value.flatMap((member: Json, at) => objectPlaces(member, `${where}.${at}`))
  if (!isObject(value)) return []
  const inner = Object.entries(value).filter(([name]) => !OF_CLIENTS.has(name) && !(name === 'input' && isObject(value[name])))
  return [{ object: value, where }, ...inner.flatMap(([name, member]) => objectPlaces(member, where === '' ? name : `${where}.${name}`))]
}

function refusalOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (isRefusal(error)) return error.message
    throw error
  }
  return 'it was not refused'
}

/** A conversation without what formats differ in: where results stand, whether neighbours are one turn, whether arguments are text. */
function essence({ turns, tools, choice, tokensMax, stops, format, sampling }: Conversation): unknown {
  const sides: { side: string; parts: unknown[] }[] = []
  for (const { role, parts } of withResultsApart(turns)) {
    const side = isInstruction(role) ? 'system' : role
    if (sides.at(-1)?.side !== side) sides.push({ side, parts: [] })
    sides.at(-1)?.parts.push(...parts.map(plain))
  }
  const kept = tools.map(({ name, description, parameters }) => ({ name, description, parameters }))
  return { sides, tools: kept, choice, tokensMax, stops, format, sampling }
}

function plain(part: Part): unknown {
  if (part.kind === 'call')
    return { call: part.id, name: part.name, input: typeof part.input === 'string' ? parsed(part.input) : part.input }
  if (part.kind === 'result') return { result: part.callId, texts: part.parts.map(plain) }
  return part.kind === 'image' ? part.address : part.kind === 'other' ? part.type : part.text
}

const listener: AnswerListener = {
  request: { stream_options: { include_usage: true } },
  model: 'm-1',
  id: 'made-up',
  nowSeconds: 1_700_000_000,
  tools: new Map(),
}

/** What an upstream of the format sends for it. */
function framesOf(spec: DialectSpec, said: readonly AnswerPiece[]): Buffer {
  const saying = needed(spec.asClient).say(listener)
  return Buffer.concat(said.flatMap((one) => [...saying.say(one)]))
}

function assembled(spec: DialectSpec, bytes: Buffer): JsonObject {
  const reader = needed(spec.openStream)()
  for (const { event, data } of eventsOf(bytes)) reader.take(writeEvent(event, typeof data === 'string' ? data : JSON.stringify(data)))
  return reader.answer()
}

/** What is heard, with texts and inputs put together and without what formats say apart or not at all. */
function heard(hearing: PieceReader, whole: JsonObject): unknown {
  const all: { kind: string; [member: string]: unknown }[] = []
  for (const said of hearing.takeWhole(whole)) {
    const last = all.at(-1)
    if ((said.kind === 'text' || said.kind === 'thinking') && last?.kind === said.kind) last['text'] = `${String(last['text'])}${said.text}`
    else if (said.kind === 'input') all.push({ kind: 'input', value: parsed(said.text) ?? said.text })
    else if (said.kind !== 'begin' && said.kind !== 'usage') all.push({ ...said })
  }
  return all
}

const request = (from: DialectSpec): JsonObject =>
  sent(needed(from.asUpstream).ask(fc.sample(asked, { numRuns: 1, seed: 1 })[0] ?? missing(), []))
const missing = (): never => {
  throw new Error('no sample')
}

describe.each(pairs)('an answer to $title', ({ from, to }) => {
  const about = translated(from, to, request(from))

  it('says the same when it is whole', () => {
    fc.assert(
      fc.property(answer, (said) => {
        const upstream = assembled(to, framesOf(to, said))
        const given = about.whole(upstream)
        expect(heard(needed(from.asUpstream).hear(), given)).toEqual(heard(needed(to.asUpstream).hear(), upstream))
        expect(from.reader.readAnswer(given)).toHaveLength(1)
      }),
      { numRuns: RUNS },
    )
  })

  it('is the same when it is streamed, cut at any byte, and ends with the last event of the format', () => {
    fc.assert(
      fc.property(answer, fc.array(fc.nat(40), { minLength: 1, maxLength: 20 }), (said, sizes) => {
        const bytes = framesOf(to, said)
        const stream = about.openStream()
        const out: Buffer[] = []
        for (let [at, turn] = [0, 0]; at < bytes.length; turn++) {
          const size = (sizes[turn % sizes.length] ?? 0) + 1
          out.push(...stream.push(bytes.subarray(at, at + size)))
          at += size
        }
        out.push(...stream.end())
        const reader = needed(from.openStream)()
        const ends = out.map((frame) => reader.take(frame))
        expect(ends.indexOf(true)).toBe(ends.length - 1)
        expect(reader.answer()).toEqual(about.whole(assembled(to, bytes)))
        const atOnce = about.openStream()
        expect(Buffer.concat([...atOnce.push(bytes), ...atOnce.end()]).equals(Buffer.concat(out))).toBe(true)
      }),
      { numRuns: RUNS },
    )
  })

  it('that breaks off has no last event', () => {
    const said: readonly AnswerPiece[] = [
      { kind: 'begin', id: 'a', model: 'm', createdSeconds: 1 },
      { kind: 'text', text: 'half' },
    ]
    const stream = about.openStream()
    const reader = needed(from.openStream)()
    const frames = [...stream.push(framesOf(to, said)), ...stream.end()]
    expect(frames.some((frame) => reader.take(frame))).toBe(false)
    expect(JSON.stringify(reader.answer())).toContain('half')
  })

  it('of any events is frames of the format, and never throws', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.jsonValue(), events(to))), (all) => {
        const stream = about.openStream()
        const frames = all.flatMap((event) => stream.push(writeEvent(null, JSON.stringify(event))))
        for (const { data } of eventsOf(Buffer.concat([...frames, ...stream.end()])))
          expect(isObject(parsed(JSON.stringify(data))) || data === '[DONE]').toBe(true)
      }),
      { numRuns: RUNS },
    )
  })

  it('that the upstream calls off in the middle is an error of the format', () => {
    const failure =
      to === gemini
        ? { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }
        : { type: 'error', error: { type: 'x', message: 'overloaded' } }
    const stream = about.openStream()
    const reader = needed(from.openStream)()
    for (const frame of stream.push(writeEvent('error', JSON.stringify(failure)))) reader.take(frame)
    expect(reader.failure).toBe('overloaded')
    expect(stream.isOver).toBe(true)
  })
})

/** Events of the format with something else in a place of theirs. */
const events = (spec: DialectSpec): fc.Arbitrary<JsonObject> =>
  fc.tuple(answer, fc.nat(), fc.nat(), fc.jsonValue()).map(([said, which, place, value]) => {
    const all = eventsOf(framesOf(spec, said)).map(({ data }) => data)
    const event = all[which % all.length]
    if (!isObject(event)) return {}
    const places = objectPlaces(event, '')
    const object = places[place % places.length]?.object ?? event
    const [key = 'type'] = Object.keys(object).slice(place % Math.max(1, Object.keys(object).length))
    Object.assign(object, { [key]: value })
    return event
  })

describe('calls whose pieces come mixed up', () => {
  const mixed = chatStreams.find(({ name }) => name === 'tool calls in pieces')
  it.each([responses, messages])('are said one after the other: $name', (from) => {
    const about = translated(from, chat, request(from))
    const stream = about.openStream()
    const frames = [...stream.push(Buffer.from(mixed?.frames.join('') ?? '')), ...stream.end()]
    const reader = needed(from.openStream)()
    for (const frame of frames) reader.take(frame)
    expect(reader.answer()).toEqual(about.whole(sent(JSON.parse(JSON.stringify(mixed?.whole ?? {})))))
  })
})
