/** Scores the trainer's probe with a freshly loaded adapter: engines have been seen to load one and still answer with the base. */
import { conflict, type AdapterFolder, type Engine } from '../../contract/index.ts'
import { provenanceIn } from '../formats/provenance.ts'

/** Log-probabilities in nats, on average per token. Engines and trainers round differently; an adapter that matters shows above this. */
const NOISE = 0.01
/** Below this two answers are the same one. */
const IDENTICAL = 1e-6
/** Quantised bases stay well within it. */
const TOLERANCE = 0.25

/** Throws Refusal when the adapter was ignored, or says something else than it was trained to. */
export async function probe(engine: Engine, { name, directory }: AdapterFolder, signal: AbortSignal): Promise<void> {
  const { probe: asked = null } = (await provenanceIn(directory)) ?? {}
  // An adapter from elsewhere brings no probe, and whether it should change anything is not known.
  if (asked === null || asked.tokens.length < 2) return
  const { vocabulary, contextTokens } = await engine.model(signal)
  const tokens = asked.tokens.slice(0, contextTokens)
  const trained = asked.log_probs.slice(0, tokens.length - 1)
  if (!tokens.every((token) => token < vocabulary)) throw differs('its probe has tokens that the base does not know')
  const [adapted, base] = [await engine.score(tokens, name, signal), await engine.score(tokens, null, signal)]
  if (distance(adapted, base) <= IDENTICAL && distance(trained, base) > NOISE)
    throw conflict(
      'adapter_ignored',
      'the engine took the adapter in and answers as the base does; check that its modules are those of the base',
    )
  // Written so that what is not a number is refused too.
  if (!(distance(adapted, trained) <= TOLERANCE)) throw differs('it answers its probe otherwise than in training')
}

const differs = (what: string) =>
  conflict('adapter_differs', `the adapter does not fit the base that is served: ${what}; train it on this base`)

/** The mean absolute difference; not a number when they are not of one length. */
function distance(one: readonly number[], other: readonly number[]): number {
  if (one.length !== other.length) return Number.NaN
  return one.reduce((sum, value, at) => sum + Math.abs(value - (other[at] ?? Number.NaN)), 0) / one.length
}
