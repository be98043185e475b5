/** False token reports of an engine. */
import type { AdapterSpan, Capture } from '../../../src/contract/index.ts'
import { adapterName } from '../../../src/weights/load-id.ts'
import type { Random } from '../../crash/random.ts'
import { INCARNATION, SCENARIO } from './engine-scenario.ts'

type Lie = (capture: Capture, random: Random) => Capture | undefined

/** Undefined: no report. Each of them falsifies every answer. */
export const LIES: Readonly<Record<string, Lie>> = {
  'a token was dropped': (capture) => ({ ...capture, tokens: capture.tokens.slice(1), logProbs: capture.logProbs.slice(1) }),
  'a log-probability was dropped': (capture) => ({ ...capture, logProbs: capture.logProbs.slice(1) }),
  'the spans are in another order': (capture) => ({ ...capture, spans: swapped(capture.spans) }),
  'a log-probability is no number': (capture, random) => withLogProb(capture, random, Number.NaN),
  'a log-probability is above certainty': (capture, random) => withLogProb(capture, random, 1),
  "another scenario's adapter answered": (capture, random) =>
    named(capture, random, adapterName('other', { incarnation: INCARNATION, sequence: 1 })),
  'an adapter of an earlier life answered': (capture, random) =>
    named(capture, random, adapterName(SCENARIO, { incarnation: 'old', sequence: 1 })),
  'an adapter that nobody served answered': (capture, random) =>
    named(capture, random, adapterName(SCENARIO, { incarnation: INCARNATION, sequence: 1_000_000 })),
  'a span is missing': (capture, random) => ({ ...capture, spans: capture.spans.toSpliced(placeIn(capture, random), 1) }),
  'a span is too long': (capture) => ({ ...capture, spans: capture.spans.map(({ end, ...span }) => ({ ...span, end: end + 1 })) }),
  'nothing is said of the weights': () => undefined,
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
