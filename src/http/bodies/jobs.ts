/** What is done with a body before anyone acts on it. Plain data in, plain data out: the same on this thread and on another. */
import { LINE_JSON_DEPTH_MAX } from '../../contract/index.ts'
import { Outlining, taggedPayload, type Outline, type Tags } from '../../inference/index.ts'
import { openDocument, type JsonRules, type BytePieces } from '../../kit/index.ts'
import { draftBatch, draftImport, draftReport, type RecordDraft } from '../../records/index.ts'
import { OWN, parseStrictObject, requireObject } from './strict-json.ts'

export type BodyJob =
  /** A body of the inference line: what is read of it, and what a record has of it. */
  | { readonly kind: 'outline'; readonly tags: Tags }
  | { readonly kind: 'report' | 'import' | 'batch'; readonly tags: Tags }
  /** A body of our own routes that is checked and then parsed where it is needed. */
  | { readonly kind: 'strict' }

export interface Findings {
  outline: Outline
  report: readonly RecordDraft[]
  import: readonly RecordDraft[]
  batch: readonly RecordDraft[]
  strict: null
}

const LINE: JsonRules = { depthMax: LINE_JSON_DEPTH_MAX, uniqueKeys: false }

export function doJob(job: BodyJob, pieces: BytePieces): Findings[BodyJob['kind']] {
  switch (job.kind) {
    case 'outline':
      return outlineOf(pieces, job.tags)
    case 'strict':
      parseStrictObject(pieces.joined())
      return null
    default:
      return drafts(job.kind, pieces.joined(), job.tags)
  }
}

/** Of a body that is the provider's to judge: it must be a JSON object. */
export function outlineOf({ list }: BytePieces, tags: Tags): Outline {
  const document = openDocument(list)
  const outlining = new Outlining(document.text, tags)
  requireObject(document, LINE, (member) => outlining.pass(member))
  return outlining.end()
}

function drafts(kind: 'report' | 'import' | 'batch', bytes: Buffer, tags: Tags): readonly RecordDraft[] {
  requireObject(openDocument([bytes]), OWN)
  const tag = (payload: Buffer): Buffer => taggedPayload(payload, tags)
  if (kind === 'batch') return draftBatch(bytes, tag)
  return [kind === 'import' ? draftImport(bytes, tag) : draftReport(bytes)]
}
