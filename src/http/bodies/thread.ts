/** The thread that large bodies are checked in, one at a time. Bytes change hands both ways; what was found goes back beside them. */
import { parentPort } from 'node:worker_threads'
import { isRefusal, type RefusalKind } from '../../contract/index.ts'
import type { Outline } from '../../inference/index.ts'
import { BytePieces } from '../../kit/index.ts'
import type { RecordDraft } from '../../records/index.ts'
import { doJob, type Findings, type BodyJob } from './jobs.ts'

export interface ToThread {
  readonly job: BodyJob
  readonly pieces: readonly ArrayBuffer[]
}
export type FromThread =
  | { readonly findings: Findings[BodyJob['kind']]; readonly pieces: readonly ArrayBuffer[] }
  | { readonly refused: { readonly kind: RefusalKind; readonly code: string; readonly message: string } }

parentPort?.on('message', ({ job, pieces }: ToThread) => {
  const [answer, transfer] = answerOf(job, pieces)
  parentPort?.postMessage(answer, transfer)
})

/** Anything but a refusal ends the thread, and with it this one request. */
function answerOf(job: BodyJob, pieces: readonly ArrayBuffer[]): [FromThread, ArrayBuffer[]] {
  try {
    const findings = doJob(job, new BytePieces(pieces.map((piece) => Buffer.from(piece))))
    if (!isDrafts(findings)) return [{ findings, pieces }, [...pieces, ...ownBuffers(findings)]]
    const packed = new ArrayBuffer(findings.reduce((sum, { payload }) => sum + payload.length, 0))
    return [{ findings: packInto(packed, findings), pieces: [packed] }, [packed]]
  } catch (error) {
    if (!isRefusal(error)) throw error
    const { kind, code, message } = error
    return [{ refused: { kind, code, message } }, []]
  }
}

/** What was built beside the bytes, and shares its memory with nothing else. */
function ownBuffers(outline: Outline | null): ArrayBuffer[] {
  return [...(outline?.tagged.values() ?? [])].flatMap((value) => {
    if (typeof value === 'string') return []
    const { buffer, byteLength } = value
    return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
  })
}

const isDrafts = (findings: Findings[BodyJob['kind']]): findings is readonly RecordDraft[] => Array.isArray(findings)

/** The payloads back to back in one buffer that can change hands. */
function packInto(packed: ArrayBuffer, drafts: readonly RecordDraft[]): readonly RecordDraft[] {
  let offset = 0
  return drafts.map((draft) => {
    const payload = new Uint8Array(packed, offset, draft.payload.length)
    payload.set(draft.payload)
    offset += payload.length
    return { ...draft, payload }
  })
}
