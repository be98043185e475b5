/** Makes a trajectory of exchanges that nobody sampled here, by the model's own template. Only a loss without a ratio can learn from it. */
import { isObject, type Encoded, type Json, type JsonObject, type Sample } from '../../contract/index.ts'
import { joinTurns, type Assembled, type AssembleOptions } from './assemble.ts'
import type { RolloutTurn } from './turn.ts'

/** What a chat request and the answer to it come to as ids; null when the engine cannot tell. */
type Encode = (body: JsonObject, answer: JsonObject) => Promise<Encoded | null>

export async function encodeRollout(sample: Sample, encode: Encode, options: AssembleOptions = {}): Promise<Assembled> {
  const turns: RolloutTurn[] = []
  for (const exchange of sample.exchanges) {
    const turn = await encodeTurn(exchange, encode)
    if (turn === null) return { kind: 'unusable', sample, reason: 'not_encodable' }
    turns.push(turn)
  }
  return joinTurns(sample, turns, options)
}

async function encodeTurn({ response, ...body }: JsonObject, encode: Encode): Promise<RolloutTurn | null> {
  const answer = answerIn(response)
  if (answer === null || !Array.isArray(body['messages'])) return null
  const encoded = await encode(body, answer)
  if (encoded === null || encoded.prompt.length === 0 || encoded.answer.length === 0) return null
  return { ...encoded, lossMask: encoded.answer.map(() => 1), logProbs: [], spans: [] }
}

/** The message of a chat completion. */
function answerIn(response: Json | undefined): JsonObject | null {
  if (!isObject(response) || !Array.isArray(response['choices'])) return null
  const [choice]: readonly Json[] = response['choices']
  const message = isObject(choice) ? choice['message'] : undefined
  return isObject(message) ? message : null
}
