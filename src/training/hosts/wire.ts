/** What a host and a trainer's thread say to each other. One step at a time, so nothing needs a number. */
import type { ActivityKind, Reporter, StepResult } from '../../contract/index.ts'
import type { StoredOrder, TrainerAddress } from './host.ts'

/** What a thread is told when it starts. Who it works for never changes while it lives. */
export type ThreadSettings = Omit<TrainerAddress, 'limits'>

export type ToThread = { readonly ask: 'step'; readonly order: StoredOrder } | { readonly ask: 'abort' }

type Phase = Parameters<Reporter['phase']>

export type FromThread =
  | { readonly said: 'phase'; readonly name: Phase[0]; readonly more: Phase[1] }
  | { readonly said: 'line'; readonly kind: ActivityKind; readonly text: string; readonly failed: boolean | undefined }
  | { readonly said: 'done'; readonly result: StepResult }
  | { readonly said: 'failed'; readonly words: string }

/** A plug-in may use the thread's port for a purpose of its own; what it sends there is nobody's business. */
export function isFromThread(message: unknown): message is FromThread {
  return typeof message === 'object' && message !== null && 'said' in message
}
