/** What the routes take: the very shapes that bodies are checked with, put together where two checks follow each other. */
import { z } from 'zod'
import { proposalBody } from '../../harness/index.ts'
import { importBatchOf, importEnvelope, reportBody, trainBody } from '../../records/index.ts'
import { modelSettings } from '../../scenarios/index.ts'
import { target } from '../releases.ts'
import { change, creation } from '../scenarios.ts'

export { modelSettings, proposalBody, reportBody, target, trainBody }

export const creationBody = creation.extend({ model: modelSettings.optional() })
export const changeBody = change.extend({ model: modelSettings.nullable().optional() })

export const importBody = z.discriminatedUnion('request_type', [
  importEnvelope.extend({ request_type: z.literal('inference') }),
  importEnvelope.extend({ request_type: z.literal('report'), payload: reportBody }),
])
export const importBatchBody = importBatchOf(importBody)

/** The provider judges these; that it is a JSON object is all that is asked of one here. */
const providers = (words: string) => z.looseObject({}).describe(words)

export const chatBody = providers("A request of OpenAI's chat completions API.")
export const responsesBody = providers("A request of OpenAI's responses API.")
export const messagesBody = providers("A request of Anthropic's messages API.")
export const countTokensBody = providers("A request of Anthropic's API that counts tokens.")
export const gatewayBody = z
  .looseObject({ stream: z.literal(false).optional() })
  .describe('Whatever the gateway of the deployment takes; never streamed.')
