/** The messages between the service and the process of its trainers. Several steps run at once, so each has a number. */
import type { StepResult } from '../../contract/index.ts'
import type { StoredOrder, TrainerSpec } from './host.ts'
import type { DocumentCall, DocumentReply } from './thread-documents.ts'
import type { Report } from './wire.ts'

export type ToTrainers =
  | { readonly ask: 'open'; readonly threads: number; readonly hasDocuments: boolean }
  | {
      readonly ask: 'step'
      readonly step: number
      readonly trainer: TrainerSpec
      readonly order: StoredOrder
      /** What the service knew then. */
      readonly secrets: readonly string[]
    }
  | { readonly ask: 'abort'; readonly step: number }
  | { readonly ask: 'close' }
  | DocumentReply

export type FromTrainers =
  /** From here on the step may be what ends the process. */
  | { readonly said: 'begun'; readonly step: number }
  | { readonly said: 'report'; readonly step: number; readonly report: Report }
  | { readonly said: 'done'; readonly step: number; readonly result: StepResult }
  | { readonly said: 'failed'; readonly step: number; readonly words: string; readonly isTrainers: boolean }
  /** Its thread is free. */
  | { readonly said: 'ended'; readonly step: number }
  | DocumentCall
