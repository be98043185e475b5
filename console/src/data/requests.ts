/** Requests for a change: whether a scenario takes any, and which step settled one. Pure. */
import type { StatusReport } from '@svc-ai/client'
import { objectAt, textAt } from '../../../src/presentation/index.ts'
import type { ChainStep, StepChain } from './chain.ts'
import { statusFor } from './status.ts'

export const REQUEST_CHARACTERS_MAX = 4000

/** As the service counts them: an emoji is one, however it is stored. */
export const charactersIn = (text: string): number => Array.from(text).length

/** Whether the scenario takes requests, would after a switch of its mode, or never will; null while it is not known. */
export function takesRequests(status: StatusReport | null, scenario: string): 'yes' | 'after a switch' | 'never' | null {
  const own = statusFor(status, scenario)
  if (own?.processor === undefined) return null
  // Only what a trainer reads from counts instructions.
  if (!Object.hasOwn(own.processor, 'pending_instructions')) return 'never'
  return own.training_mode === 'auto' ? 'after a switch' : 'yes'
}

export const stepOf = ({ steps }: StepChain, requestId: string): ChainStep | undefined =>
  steps.find(({ row }) => textAt(objectAt(row.metrics, 'training_request'), 'id') === requestId)

/** The page of a request, with what pages of this scenario are opened by; null where it has none. */
export function requestPagePath({ steps }: StepChain, requestId: string): string | null {
  const path = steps[0]?.pagePath ?? null
  const query = path?.indexOf('?') ?? -1
  if (path === null || query === -1) return null
  return `/svc/harness/requests/${encodeURIComponent(requestId)}/page${path.slice(query)}`
}

/** A random UUID, also on pages that browsers call insecure, where `crypto.randomUUID` is missing. */
export function freshId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5')
}
