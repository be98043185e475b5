/** Requests for a change as people follow them: whether a scenario takes any, how far one is, and what it came to. Pure. */
import type { Progress, Status } from '@svc-ai/client'
import type { Tone } from '../ui/badge.tsx'
import { RESULTS, type Chain, type Step } from './chain.ts'
import { dataAt, textAt } from './json.ts'

export const REQUEST_CHARACTERS_MAX = 4000

/** As the service counts them: an emoji is one, however it is stored. */
export function charactersIn(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** Whether the scenario takes requests, would after a switch of its mode, or never will; null while nobody knows. */
export function takesRequests(status: Status | null, scenario: string): 'yes' | 'after a switch' | 'never' | null {
  const told = status !== null && Object.hasOwn(status.scenarios, scenario) ? status.scenarios[scenario] : undefined
  if (told?.processor === undefined) return null
  // Only what a trainer reads from counts instructions.
  if (!Object.hasOwn(told.processor, 'pending_instructions')) return 'never'
  return told.training_mode === 'auto' ? 'after a switch' : 'yes'
}

export const STAGES = ['Received', 'Working', 'Landing', 'Outcome'] as const

/** Which of the stages a request is at. */
export function stageOf({ settled, state }: Progress): number {
  if (settled) return STAGES.length - 1
  if (state === 'queued') return 0
  return state === 'settling' ? 2 : 1
}

const STATES: Readonly<Record<string, { readonly word: string; readonly tone: Tone }>> = {
  queued: { word: 'Waiting', tone: 'plain' },
  running: { word: 'Working', tone: 'warn' },
  proposing: { word: 'Writing the change', tone: 'warn' },
  evaluating: { word: 'Trying it out', tone: 'warn' },
  settling: { word: 'Landing', tone: 'warn' },
}

/** A state, or the result once there is one. */
export const stateWord = (state: string): { readonly word: string; readonly tone: Tone } =>
  STATES[state] ?? RESULTS[state] ?? { word: state, tone: 'plain' }

/** The step that read a request; undefined until there is one. */
export const stepOf = ({ steps }: Chain, requestId: string): Step | undefined =>
  steps.find(({ row }) => textAt(dataAt(row.metrics, 'training_request'), 'id') === requestId)

/** The page of a request, with what pages of this scenario are opened by; null where it has none. */
export function requestPagePath({ steps }: Chain, requestId: string): string | null {
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
