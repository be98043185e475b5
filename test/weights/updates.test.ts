/** Weight updates during requests: no record is accepted whose tokens are not accounted for. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isRefusal, type Capture, type AdapterSpan } from '../../src/contract/index.ts'
import { randomOf, type Random } from '../crash/random.ts'
import { sharedFolder } from '../support/folder.ts'
import { adapterName } from '../../src/weights/load-id.ts'
import { withLlama } from './support/llama.ts'
import { problemsOf, scoreSpans, sequenceOf } from './support/spans-add-up.ts'
import { openEngineScenario, type Accepted, type EngineScenario, INCARNATION, SCENARIO } from './support/engine-scenario.ts'

type Lie = (capture: Capture, random: Random) => Capture | undefined

/** Undefined: no report. Each of them falsifies every answer. */
const LIES: Readonly<Record<string, Lie>> = {
  'a token was dropped': (capture) => ({ ...capture, tokens: capture.tokens.slice(1), logProbs: capture.logProbs.slice(1) }),
  'a log-probability was dropped': (capture) => ({ ...capture, logProbs: capture.logProbs.slice(1) }),
  'the spans are in another order': (capture) => ({ ...capture, spans: swapped(capture.spans) }),
  'a log-probability is no number': (capture, random) => withLogProb(capture, random, Number.NaN),
  'a log-probability is above certainty': (capture, random) => withLogProb(capture, random, 1),
  "another scenario's adapter answered": (capture, random) =>
    named(capture, random, adapterName('other', { incarnation: INCARNATION, sequence: 1 })),
  'an adapter of an earlier life answered': (capture, random) =>
    named(capture, random, adapterName(SCENARIO, { incarnation: 'old', sequence: 1 })),
  'an adapter that was never served answered': (capture, random) =>
    named(capture, random, adapterName(SCENARIO, { incarnation: INCARNATION, sequence: 1_000_000 })),
  'a span is missing': (capture, random) => ({ ...capture, spans: capture.spans.toSpliced(placeIn(capture, random), 1) }),
  'a span is too long': (capture) => ({ ...capture, spans: capture.spans.map(({ end, ...span }) => ({ ...span, end: end + 1 })) }),
  'nothing is said of the weights': () => undefined,
}

/** `npm run test:weights:updates` makes ten thousand. */
const UPDATES = Number(process.env['WEIGHT_UPDATES'] ?? 150)
const SEED = process.env['WEIGHT_SEED'] ?? String(Date.now())
const ABOUT = `WEIGHT_SEED=${SEED} WEIGHT_UPDATES=${UPDATES} repeats the choices`
const AT_ONCE = 4
const SCORED = Math.min(400, UPDATES / 5)
/** Of log-probabilities, on average: what rounding makes, and less than the distance of any other weights over a few tokens. */
const SAME = 1e-3
const LONG_SPAN = 4
const MILLISECONDS_PER_UPDATE = 400

const folder = sharedFolder()
let weights: EngineScenario
/** The source of token reports; false in one of the tests. */
let report: (capture: Capture) => Capture | undefined = (capture) => capture

beforeAll(async () => {
  withLlama()
  weights = await openEngineScenario(folder, (capture) => report(capture))
})
afterAll(() => weights.close())

describe('weights that change under requests', () => {
  it(
    'leave no record whose spans do not add up, and every token to the weights that made it [inference.rule-5]',
    async () => {
      const random = randomOf(SEED)
      const refused = await amidUpdates(random, UPDATES)
      expect(refused, ABOUT).toEqual([])
      expect(
        weights.accepted.flatMap((one) => problemsOf(one).map((problem) => ({ problem, one }))),
        ABOUT,
      ).toEqual([])
      const several = weights.accepted.filter(({ training }) => training.runtime_load_spans.length > 1)
      const inside = new Set(several.flatMap(loadsAfterTheFirst))
      const scored = await scoredOf([...several, ...weights.accepted].slice(0, SCORED))
      print({ updates: UPDATES, inside: inside.size, answers: weights.accepted.length, several: several.length, scored: scored.length })
      expect(inside.size, ABOUT).toBeGreaterThan(UPDATES / 10)
    },
    60_000 + UPDATES * MILLISECONDS_PER_UPDATE,
  )

  it(
    'leave nothing at all of an answer whose engine lies about it, and everything of the others [errors.409-engine]',
    async () => {
      const random = randomOf(`${SEED} lies`)
      const before = weights.accepted.length
      const truths: Capture[] = []
      const lies: string[] = []
      report = (capture) => {
        const [name, lie] = Object.entries(LIES)[lies.length % Object.keys(LIES).length] ?? []
        const isTruth = name === undefined || lie === undefined || random.fraction() < 1 / 2
        if (isTruth) truths.push(capture)
        else lies.push(name)
        return isTruth ? capture : lie(capture, random)
      }
      const refused = await amidUpdates(random, UPDATES / 3)
      report = (capture) => capture
      expect(
        refused.filter((error) => !isConflict(error)),
        ABOUT,
      ).toEqual([])
      expect(refused, ABOUT).toHaveLength(lies.length)
      expect(new Set(lies), ABOUT).toEqual(new Set(Object.keys(LIES)))
      expect(weights.accepted, ABOUT).toHaveLength(before + truths.length)
      expect(weights.accepted.flatMap(problemsOf), ABOUT).toEqual([])
      print({ lies: lies.length, refused: refused.length, truths: truths.length })
    },
    60_000 + UPDATES * MILLISECONDS_PER_UPDATE,
  )
})

const isConflict = (error: unknown): boolean =>
  isRefusal(error) && error.kind === 'conflict' && ['spans_do_not_add_up', 'no_load_id'].includes(error.code)

/** Requests without a pause, four at a time, until so many updates landed. Answers what was refused. */
async function amidUpdates(random: Random, updates: number): Promise<readonly unknown[]> {
  const refused: unknown[] = []
  const over = new AbortController()
  const asking = Array.from({ length: AT_ONCE }, async (_, at) => {
    const own = random.branch(`client ${at}`)
    while (!over.signal.aborted) await weights.ask(own).catch((error: unknown) => refused.push(error))
  })
  for (let made = 0; made < updates; made += 1) await weights.update(random)
  over.abort()
  await Promise.all(asking)
  return refused
}

const loadsAfterTheFirst = ({ training }: Accepted): readonly number[] =>
  training.runtime_load_spans.slice(1).map((span) => sequenceOf(span.runtime_load_id))

async function scoredOf(sample: readonly Accepted[]): Promise<readonly number[]> {
  const own: number[] = []
  for (const accepted of sample) {
    for (const [at, score] of (await scoreSpans(accepted, weights)).entries()) {
      const { start = 0, end = 0 } = accepted.training.runtime_load_spans[at] ?? {}
      own.push(score.own)
      expect(score.own, ABOUT).toBeLessThan(SAME)
      if (end - start >= LONG_SPAN) expect(score.other, ABOUT).toBeGreaterThan(SAME)
    }
  }
  return own
}

function print(numbers: Readonly<Record<string, number>>): void {
  process.stdout.write(
    `${Object.entries(numbers)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')}\n`,
  )
}

/** Reversed spans; a single span starts later. */
function swapped(spans: readonly AdapterSpan[]): readonly AdapterSpan[] {
  const [first] = spans
  if (first === undefined || spans.length > 1) return spans.toReversed()
  return [{ ...first, start: 1 }]
}

function withLogProb(capture: Capture, random: Random, value: number): Capture {
  return { ...capture, logProbs: capture.logProbs.with(random.between(0, capture.logProbs.length - 1), value) }
}

function named(capture: Capture, random: Random, adapter: string): Capture {
  const at = placeIn(capture, random)
  return { ...capture, spans: capture.spans.map((span, place) => (place === at ? { ...span, adapter } : span)) }
}

const placeIn = ({ spans }: Capture, random: Random): number => random.between(0, spans.length - 1)
