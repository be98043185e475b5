/** What is told of a route beyond its row in the table. */
import type { z } from 'zod'
import type { Parameter, ResponseHeader } from './parameters.ts'
import type { Refusals } from './refusals.ts'

/** By method and path, as the table spells them: `GET /svc/scenarios/:scenario/records`. */
export type Descriptions = Readonly<Record<string, Description>>

export interface Description {
  readonly operationId: string
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  /** Beside those of its path. */
  readonly parameters?: readonly Parameter[]
  readonly body?: z.ZodType
  readonly answers: Readonly<Record<number, Answer>>
  /** Beside those of any request, and of anyone who may not enter. */
  readonly refusals: Refusals
}

export interface Answer {
  readonly description: string
  /** Media types; a shape where it is JSON of ours. */
  readonly content: Readonly<Record<string, z.ZodType | null>>
  readonly headers: readonly ResponseHeader[]
}

export const TAGS = {
  inference: "The provider's own formats, stored.",
  evaluation: 'Inference that is not stored, for whoever measures a scenario.',
  multimodal: 'Relayed to the gateway of the deployment, not stored.',
  records: 'What was stored, and what is sent to be stored.',
  scenarios: 'Workloads, each with its own records and releases.',
  releases: 'The chain of releases, and moving in it.',
  harness: 'The files that agents pull, and what becomes of them.',
  service: 'How the service is.',
} as const
type Tag = keyof typeof TAGS

export const answer = (schema: z.ZodType, description: string, headers: readonly ResponseHeader[] = []): Answer => ({
  description,
  content: { 'application/json': schema },
  headers,
})
/** What may differ when it is asked for again. */
export const live = (schema: z.ZodType, description: string): Answer => answer(schema, description, ['cache-control'])
export const other = (mediaType: string, description: string, headers: readonly ResponseHeader[] = []): Answer => ({
  description,
  content: { [mediaType]: null },
  headers,
})
