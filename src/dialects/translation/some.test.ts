/** What only some formats have words for: it is said in every other that has them, and refused by its name where there are none. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRefusal, type JsonObject } from '../../contract/index.ts'
import { dialects, type DialectSpec } from '../index.ts'
import type { Conversation } from '../conversation.ts'
import { withResultsApart } from '../conversation.ts'
import { parsed } from '../values.ts'
import { translate } from './index.ts'
import type { AnswerListener, AnswerPiece, PieceReader, Usage } from './pieces.ts'
import { Untranslatable } from './rules.ts'
import { answerOfSome, asked, askedOfSome } from './testing/arbitrary.ts'

const RUNS = 40
const formats = [dialects.chat, dialects.responses, dialects.messages, dialects.gemini]
const pairs = formats.flatMap((from) =>
  formats.filter((to) => to !== from).map((to) => ({ title: `${from.name} on ${to.name}`, from, to })),
)

function needed<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the format does not have it')
  return value
}

const sent = (value: JsonObject): JsonObject => JSON.parse(JSON.stringify(value))

/** Everything that a request says besides its words, in no format's terms. */
function wishes(spec: DialectSpec, body: JsonObject) {
  const { reader, asClient } = spec
  const conversation: Conversation = asClient?.conversation?.(body) ?? reader.read(body)
  const { stops, hasParallelCalls, sampling, format, tokensMax, choice, turns } = conversation
  const { seed, penalties, effort, strictTools } = needed(asClient).besides(body)
  const results = withResultsApart(turns).flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'result' ? [part.isError] : [])))
  return {
    required: {
      stops,
      // Several calls at once are the usual thing, and where there are none to be, neither.
      isSingle: hasParallelCalls === false && choice?.kind !== 'none',
      sampling,
      format,
      tokensMax,
      choice,
      seed: seed?.value ?? null,
      penalties: [penalties.frequency?.value ?? 0, penalties.presence?.value ?? 0],
      effort: effort?.value ?? null,
    },
    strict: [...strictTools].toSorted(),
    results,
  }
}

/** The fields that a refusal may name, in the spelling of any format. */
const NAMED =
  /^(?:stop|stop_sequences|parallel_tool_calls|tool_choice\.disable_parallel_tool_use|temperature|top_k|seed|frequency_penalty|presence_penalty|reasoning_effort|reasoning\.effort|output_config\.effort|response_format|text\.format|generationConfig\.(?:stopSequences|seed|frequencyPenalty|presencePenalty|responseMimeType|thinkingConfig\.thinkingLevel)): cannot be translated from /

describe.each(pairs)('a request of $title', ({ from, to }) => {
  it('is translated with all it asks for, or refused by the name of what has no counterpart', () => {
    let translations = 0
    fc.assert(
      fc.property(askedOfSome, (one) => {
        const request = requestOf(from, one)
        if (request === null) return
        const path = needed(from.asUpstream).path('m-1', one.isStreamed)
        try {
          const { body, leftOut } = translate(from, to, { path, body: request, id: 'made-up', nowSeconds: 1 })
          const [wanted, got] = [wishes(from, request), wishes(to, sent(body))]
          expect(got.required).toEqual(wanted.required)
          if (got.strict.length < wanted.strict.length) expect(leftOut.some((name) => name.startsWith('strict of '))).toBe(true)
          if (got.results.join() !== wanted.results.join()) expect(leftOut.some((name) => name.startsWith('is_error of '))).toBe(true)
          translations += 1
        } catch (error) {
          if (!isRefusal(error)) throw error
          expect([error.code, error.message]).toEqual(['cannot_translate', expect.stringMatching(NAMED)])
        }
      }),
      { numRuns: RUNS },
    )
    // A property that refuses everything would hold too.
    expect(translations).toBeGreaterThan(0)
  })
})

/** Null where a client of the format could not ask for it. */
function requestOf(from: DialectSpec, one: Parameters<NonNullable<DialectSpec['asUpstream']>['ask']>[0]): JsonObject | null {
  try {
    return sent(needed(from.asUpstream).ask(one, []))
  } catch (error) {
    if (error instanceof Untranslatable) return null
    throw error
  }
}

const PLAIN = needed(fc.sample(asked, { numRuns: 1, seed: 1 })[0])

const listener: AnswerListener = { request: {}, model: 'm-1', id: 'made-up', nowSeconds: 1, tools: new Map() }

/** The words of each kind, the calls, the end and the counts; a refusal may be a text, and a stop sequence an end. */
function gist(hearing: PieceReader, whole: JsonObject): unknown {
  let [words, thoughts, input] = ['', '', '']
  const calls: unknown[] = []
  let end: string | null = null
  let usage: Usage | null = null
  for (const piece of hearing.takeWhole(whole)) {
    if (piece.kind === 'text' || piece.kind === 'refusal') words += piece.text
    if (piece.kind === 'thinking') thoughts += piece.text
    if (piece.kind === 'call') calls.push([piece.id, piece.name])
    if (piece.kind === 'input') input += piece.text
    if (piece.kind === 'called') calls.push(parsed(input) ?? input)
    if (piece.kind === 'called') input = ''
    if (piece.kind === 'end') end = piece.reason === 'stop' ? 'end' : piece.reason
    if (piece.kind === 'usage') usage = piece.usage
  }
  return { words, thoughts, calls, end, input: usage?.input, output: usage?.output }
}

describe.each(pairs)('an answer to $title', ({ from, to }) => {
  it('has its refusal, its end and its counts, whole and streamed, cut at any byte', () => {
    const body = sent(needed(from.asUpstream).ask(PLAIN, []))
    const about = translate(from, to, { path: needed(from.asUpstream).path('m-1', true), body, id: 'made-up', nowSeconds: 1 })
    fc.assert(
      fc.property(answerOfSome, fc.integer({ min: 1, max: 30 }), (said: readonly AnswerPiece[], size) => {
        const saying = needed(to.asClient).say(listener)
        const frames = said.flatMap((one) => [...saying.say(one)])
        const upstream = needed(to.openStream)()
        for (const frame of frames) upstream.take(frame)
        const wanted = gist(needed(to.asUpstream).hear(), upstream.answer())
        const whole = about.whole(upstream.answer())
        expect(gist(needed(from.asUpstream).hear(), whole)).toEqual(wanted)
        const bytes = Buffer.concat(frames)
        const stream = about.openStream()
        const reader = needed(from.openStream)()
        for (let at = 0; at < bytes.length; at += size) for (const frame of stream.push(bytes.subarray(at, at + size))) reader.take(frame)
        for (const frame of stream.end()) reader.take(frame)
        expect(reader.answer()).toEqual(whole)
      }),
      { numRuns: RUNS },
    )
  })
})
