/** Bodies that a provider or a gateway validates: here each must only be a JSON object. */
import { z } from 'zod'

const providers = (words: string) => z.looseObject({}).describe(words)

export const chatBodySchema = providers("A request of OpenAI's chat completions API.")
export const responsesBodySchema = providers("A request of OpenAI's responses API.")
export const inputTokensBodySchema = providers("A request of OpenAI's responses API that counts tokens.")
export const compactBodySchema = providers("A request of OpenAI's responses API that makes a conversation shorter.")
export const messagesBodySchema = providers("A request of Anthropic's messages API.")
export const generateContentBodySchema = providers("A request of Gemini's generateContent API.")
export const countContentBodySchema = providers("A request of Gemini's API that counts tokens.")
export const countTokensBodySchema = providers("A request of Anthropic's API that counts tokens.")
export const gatewayBodySchema = z
  .looseObject({ stream: z.literal(false).optional() })
  .describe('A request of the gateway of the deployment; never streamed.')
