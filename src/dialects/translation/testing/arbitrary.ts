/** Random requests and answers that every format has words for. */
import * as fc from 'fast-check'
import type { Json, JsonObject } from '../../../contract/index.ts'
import type { Part, Turn } from '../../conversation.ts'
import { NOTHING_BESIDES, type Asked } from '../asked.ts'
import type { AnswerEnd, AnswerPiece, Usage } from '../pieces.ts'

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
const name = fc.stringMatching(/^[a-z][a-z_]{0,8}$/)
const plain = fc.oneof(
  words,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }).map((one) => one + 0),
  fc.boolean(),
  fc.constant(null),
  fc.constant(''),
)
const input: fc.Arbitrary<JsonObject> = fc.dictionary(
  name,
  fc.oneof(plain, fc.array(plain, { maxLength: 2 }), fc.dictionary(name, plain, { maxKeys: 2, noNullPrototype: true })),
  {
    maxKeys: 3,
    noNullPrototype: true,
  },
)
const text: fc.Arbitrary<Part> = words.map((said) => ({ kind: 'text', text: said }))
const image: fc.Arbitrary<Part> = fc
  .base64String({ minLength: 4, maxLength: 8 })
  .map((data) => ({ kind: 'image', address: `data:image/png;base64,${data}`, type: 'image', where: 'somewhere' }))

const user: fc.Arbitrary<readonly Turn[]> = fc
  .array(fc.oneof({ arbitrary: text, weight: 4 }, { arbitrary: image, weight: 1 }), { minLength: 1, maxLength: 3 })
  .map((parts) => [{ role: 'user', parts }])

interface Called {
  readonly name: string
  readonly input: JsonObject
  readonly result: string
}

/** An answer, and the results of its calls where it has any. */
const answered: fc.Arbitrary<(at: number) => readonly Turn[]> = fc
  .tuple(fc.array(text, { maxLength: 2 }), text, fc.array(fc.record({ name, input, result: words }), { maxLength: 3 }))
  // A turn of calls may have no words; one without calls has some.
  .map(([said, word, calls]) => (at) => [assistant(said.length + calls.length === 0 ? [word] : said, calls, at), ...results(calls, at)])

const idOf = (at: number, call: number): string => `call_${at}_${call}`

const assistant = (said: readonly Part[], calls: readonly Called[], at: number): Turn => ({
  role: 'assistant',
  parts: [
    ...said,
    ...calls.map((call, n): Part => ({ kind: 'call', id: idOf(at, n), name: call.name, input: call.input, isCustom: false })),
  ],
})

const results = (calls: readonly Called[], at: number): readonly Turn[] =>
  calls.map(({ result }, n) => ({
    role: 'tool',
    parts: [{ kind: 'result', callId: idOf(at, n), isError: false, parts: [{ kind: 'text', text: result }], value: result }],
  }))

const turns = fc
  .tuple(fc.array(words, { maxLength: 2 }), fc.array(fc.tuple(user, answered), { minLength: 1, maxLength: 3 }), user)
  .map(([system, rounds, last]): readonly Turn[] => [
    ...(system.length === 0 ? [] : [{ role: 'system', parts: system.map((said): Part => ({ kind: 'text', text: said })) }]),
    ...rounds.flatMap(([asked, answer], at) => [...asked, ...answer(at)]),
    ...last,
  ])

const schema: fc.Arbitrary<JsonObject> = fc
  .array(name, { maxLength: 2 })
  .map((names) => ({ type: 'object', properties: Object.fromEntries(names.map((one) => [one, { type: 'string' }])) }))

const withoutChoice: fc.Arbitrary<Asked> = fc.record({
  turns,
  tools: fc.uniqueArray(
    fc.record({
      name,
      description: fc.oneof(words, fc.constant('')),
      parameters: schema,
      shape: fc.constant('function' as const),
      namespace: fc.constant(null),
    }),
    { selector: (tool) => tool.name, minLength: 1, maxLength: 3 },
  ),
  choice: fc.constantFrom({ kind: 'auto' as const }, { kind: 'none' as const }, { kind: 'required' as const }),
  hasParallelCalls: fc.constant(null),
  tokensMax: fc.integer({ min: 1, max: 9000 }),
  stops: fc.constant([]),
  format: fc.option(schema.map((one) => ({ schema: one }))),
  sampling: fc
    .record({ temperature: fc.constantFrom(0, 0.5, 1), top_p: fc.constantFrom(0.1, 1) }, { requiredKeys: [] })
    .map((one) => ({ ...one })),
  effort: fc.option(fc.constantFrom('low', 'medium', 'high').map((value) => ({ where: 'effort', value }))),
  seed: fc.constant(null),
  penalties: fc.constant(NOTHING_BESIDES.penalties),
  strictTools: fc.constant(NOTHING_BESIDES.strictTools),
  names: fc.constant({ stops: '', format: '', parallel: '' }),
  formatName: fc.constant('answer'),
  isFormatStrict: fc.constant(null),
  model: fc.constant('m-1'),
  isStreamed: fc.boolean(),
})

/** One of the tools may have to be called. */
export const asked: fc.Arbitrary<Asked> = fc
  .tuple(withoutChoice, fc.option(fc.nat()))
  .map(([one, at]) => (at === null ? one : { ...one, choice: { kind: 'named', name: one.tools[at % one.tools.length]?.name ?? '' } }))

/** Thoughts and words in pieces, then calls with their input in pieces. */
export const answer: fc.Arbitrary<readonly AnswerPiece[]> = fc
  .tuple(
    fc.array(words, { maxLength: 3 }),
    fc.array(words, { maxLength: 4 }),
    fc.array(fc.record({ name, input, cut: fc.integer({ min: 1, max: 5 }) }), { maxLength: 3 }),
    fc.constantFrom<AnswerEnd>('end', 'length'),
    fc.record({ input: fc.nat(1000), output: fc.nat(1000) }),
  )
  .map(([thoughts, texts, calls, reason, counts]) => [
    { kind: 'begin', id: 'a-1', model: 'm-2', createdSeconds: 1_700_000_000 },
    ...thoughts.map((piece): AnswerPiece => ({ kind: 'thinking', text: piece })),
    ...texts.map((piece): AnswerPiece => ({ kind: 'text', text: piece })),
    ...calls.flatMap((call, at): readonly AnswerPiece[] => [
      { kind: 'call', id: `call_${at}`, name: call.name },
      ...cut(JSON.stringify(call.input), call.cut).map((piece): AnswerPiece => ({ kind: 'input', text: piece })),
      { kind: 'called' },
    ]),
    { kind: 'usage', usage: { ...counts, cacheRead: null, cacheWrite: null, thought: null } },
    { kind: 'end', reason: calls.length > 0 && reason === 'end' ? 'call' : reason },
    { kind: 'over' },
  ])

function cut(whole: string, size: number): readonly string[] {
  const letters = Array.from(whole)
  return Array.from({ length: Math.ceil(letters.length / size) }, (_, at) => letters.slice(at * size, (at + 1) * size).join(''))
}

const wish = (value: Json, where = 'somewhere') => ({ where, value })

/** Each of them has no words in some format. */
const wishes: readonly fc.Arbitrary<(one: Asked) => Asked>[] = [
  fc.uniqueArray(words, { minLength: 1, maxLength: 3 }).map((stops) => (one) => ({ ...one, stops })),
  fc.boolean().map((hasParallelCalls) => (one) => ({ ...one, hasParallelCalls })),
  fc.constantFrom(1, 1.5, 2).map((temperature) => (one) => ({ ...one, sampling: { ...one.sampling, temperature } })),
  fc.integer({ min: 1, max: 40 }).map((few) => (one) => ({ ...one, sampling: { ...one.sampling, top_k: few } })),
  fc.integer().map((seed) => (one) => ({ ...one, seed: wish(seed) })),
  fc.constantFrom(-1, 0.5).map((value) => (one) => ({ ...one, penalties: { ...one.penalties, frequency: wish(value) } })),
  fc.constantFrom(0.25, 2).map((value) => (one) => ({ ...one, penalties: { ...one.penalties, presence: wish(value) } })),
  fc
    .constantFrom('none', 'minimal', 'low', 'high', 'xhigh', 'max')
    .map((value) => (one) => ({ ...one, effort: { where: 'somewhere', value } })),
  fc.constant((one) => ({ ...one, strictTools: new Set(one.tools.map(({ name: called }) => called)) })),
  fc.constant((one) => ({ ...one, turns: one.turns.map(failing) })),
  fc.constant((one) => ({ ...one, format: { schema: null } })),
]

const failing = ({ role, parts }: Turn): Turn => ({
  role,
  parts: parts.map((part) => (part.kind === 'result' ? { ...part, isError: true } : part)),
})

/** Requests with one or two things that only some formats have words for. */
export const askedOfSome: fc.Arbitrary<Asked> = fc
  .tuple(asked, fc.array(fc.oneof(...wishes), { minLength: 1, maxLength: 2 }))
  .map(([one, all]) => all.reduce((sum, add) => add(sum), one))

/** Answers that may be refused in words, cut off by a stop sequence, and count what came from a cache and what was thought. */
export const answerOfSome: fc.Arbitrary<readonly AnswerPiece[]> = fc
  .record({
    said: answer,
    refusal: fc.array(words, { maxLength: 2 }),
    end: fc.constantFrom<AnswerEnd | null>('stop', 'refusal', 'length', null),
    cached: fc.option(fc.nat(50)),
    thought: fc.option(fc.nat(50)),
  })
  .map(({ said, refusal, end, cached, thought }) => {
    const hasCalls = said.some(({ kind }) => kind === 'call')
    const refused = hasCalls ? [] : refusal
    const reason = hasCalls ? null : refused.length > 0 ? 'refusal' : end
    return said.flatMap((piece): readonly AnswerPiece[] => {
      if (piece.kind === 'usage')
        return [
          ...refused.map((one): AnswerPiece => ({ kind: 'refusal', text: one })),
          { kind: 'usage', usage: { ...grown(piece.usage, cached ?? 0, thought ?? 0), cacheRead: cached, thought } },
        ]
      return [piece.kind === 'end' && reason !== null ? { kind: 'end', reason } : piece]
    })
  })

/** The parts of a count are within it. */
const grown = (usage: Usage, cached: number, thought: number): Usage => ({
  ...usage,
  input: (usage.input ?? 0) + cached,
  output: (usage.output ?? 0) + thought,
})
