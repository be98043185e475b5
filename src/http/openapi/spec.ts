/** What the OpenAPI document says of a route. */
import type { z } from 'zod'
import type { Parameter, ResponseHeader } from './parameters.ts'
import type { Refusals } from './refusals.ts'

export interface RouteSpec {
  readonly operationId: string
  readonly tag: Tag
  readonly summary: string
  readonly description?: string
  /** Besides those of its path. */
  readonly parameters?: readonly Parameter[]
  readonly body?: z.ZodType
  readonly answers: Readonly<Record<number, RouteAnswer>>
  /** Besides those of any request, and of authentication. */
  readonly refusals: Refusals
}

export interface RouteAnswer {
  readonly description: string
  /** Media types, with the schema when it is JSON of this service. */
  readonly content: Readonly<Record<string, z.ZodType | null>>
  readonly headers: readonly ResponseHeader[]
}

export const TAGS = {
  inference: "The provider's own formats, stored.",
  evaluation: 'Inference that is not stored, to measure a scenario.',
  multimodal: 'Relayed to the gateway of the deployment, not stored.',
  records: 'Sending records, and reading them back.',
  scenarios: 'Workloads, each with its own records and releases.',
  releases: 'The chain of releases, and moving in it.',
  harness: 'The files that agents pull, and their changes.',
  fleet: 'Workers on other machines, and the episodes that they play.',
  access: 'Tokens, and the audit of what was done.',
  service: 'The state of the service.',
} as const
type Tag = keyof typeof TAGS

export const answer = (schema: z.ZodType, description: string, headers: readonly ResponseHeader[] = []): RouteAnswer => ({
  description,
  content: { 'application/json': schema },
  headers,
})
export const live = (schema: z.ZodType, description: string): RouteAnswer => answer(schema, description, ['cache-control'])
export const other = (mediaType: string, description: string, headers: readonly ResponseHeader[] = []): RouteAnswer => ({
  description,
  content: { [mediaType]: null },
  headers,
})
