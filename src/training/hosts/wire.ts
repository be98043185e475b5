/** The messages between a host and a trainer's thread. There is one step at a time, so only calls of documents need a number. */
import type { ActivityKind, EpisodeReport, Reporter, StepResult } from '../../contract/index.ts'
import type { StoredOrder, TrainerSpec } from './host.ts'
import type { DocumentCall, DocumentReply } from './thread-documents.ts'

/** Given to a thread at its start. A thread serves one trainer for its whole life. */
export interface ThreadSettings extends Omit<TrainerSpec, 'limits'> {
  /** What the service knew then, so that the thread's own words are without it. */
  readonly secrets: readonly string[]
  /** Whether it has documents that all gateways share. */
  readonly hasDocuments: boolean
}

export type ToTrainerThread = { readonly ask: 'step'; readonly order: StoredOrder } | { readonly ask: 'abort' } | DocumentReply

type Phase = Parameters<Reporter['phase']>

/** What a trainer tells of its step. */
export type Report =
  | { readonly said: 'phase'; readonly name: Phase[0]; readonly more: Phase[1] }
  | { readonly said: 'line'; readonly kind: ActivityKind; readonly text: string; readonly failed: boolean | undefined }
  | { readonly said: 'episode'; readonly episode: EpisodeReport }

export type FromTrainerThread =
  | Report
  | { readonly said: 'done'; readonly result: StepResult }
  | { readonly said: 'failed'; readonly words: string }
  | DocumentCall

/** A reporter that sends what it is told. */
export function reporterTo(say: (report: Report) => void): Reporter {
  return {
    phase: (name, more) => say({ said: 'phase', name, more }),
    line: (kind, text, failed) => say({ said: 'line', kind, text, failed }),
    episode: (episode) => say({ said: 'episode', episode }),
  }
}

/** Tells a reporter what was sent. */
export function tellReport(to: Reporter, report: Report): void {
  if (report.said === 'phase') return to.phase(report.name, report.more)
  if (report.said === 'episode') return to.episode?.(report.episode)
  return to.line(report.kind, report.text, report.failed)
}

/** A plug-in may use the thread's port itself; its messages are ignored. */
export function isFromTrainerThread(message: unknown): message is FromTrainerThread {
  return typeof message === 'object' && message !== null && 'said' in message
}
