/** The thread that large bodies are checked in, one at a time. Bytes change hands both ways; what was found goes back beside them. */
import { parentPort } from 'node:worker_threads'
import { isRefusal, type RefusalKind } from '../../contract/index.ts'
import type { Outline } from '../../inference/index.ts'
import type { RecordDraft } from '../../records/index.ts'
import { doJob, type Findings, type BodyJob } from './jobs.ts'

export interface ToThread {
  readonly job: BodyJob
  readonly bytes: ArrayBuffer
}
export type FromThread =
  | { readonly findings: Findings[BodyJob['kind']]; readonly bytes: ArrayBuffer }
  | { readonly refused: { readonly kind: RefusalKind; readonly code: string; readonly message: string } }

parentPort?.on('message', ({ job, bytes }: ToThread) => {
  const [answer, transfer] = answerOf(job, bytes)
  parentPort?.postMessage(answer, transfer)
})

/** Anything but a refusal ends the thread, and with it this one request. */
function answerOf(job: BodyJob, bytes: ArrayBuffer): [FromThread, ArrayBuffer[]] {
  try {
    const findings = doJob(job, Buffer.from(bytes))
    if (!isDrafts(findings)) return [{ findings, bytes }, [bytes, ...ownBuffers(findings, bytes)]]
    const packed = new ArrayBuffer(findings.reduce((sum, { payload }) => sum + payload.length, 0))
    return [{ findings: packInto(packed, findings), bytes: packed }, [packed]]
  } catch (error) {
    if (!isRefusal(error)) throw error
    const { kind, code, message } = error
    return [{ refused: { kind, code, message } }, []]
  }
}

/** What was built beside the bytes, and shares its memory with nothing else. */
function ownBuffers(outline: Outline | null, bytes: ArrayBuffer): ArrayBuffer[] {
  return [...(outline?.tagged.values() ?? [])].flatMap((value) => {
    if (typeof value === 'string') return []
    const { buffer, byteLength } = value
    return buffer instanceof ArrayBuffer && buffer !== bytes && buffer.byteLength === byteLength ? [buffer] : []
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
