import { describe, it } from 'vitest'
import { documentsConformance } from '../../../conformance/documents.ts'
import { FolderDocuments } from '../../kit/index.ts'
import { answerCall, ThreadDocuments } from './thread-documents.ts'

documentsConformance({
  describe,
  it,
  open(folder) {
    const kept = new FolderDocuments(folder)
    const thread = new ThreadDocuments((call) => {
      // As a port does.
      void answerCall(structuredClone(call), () => kept).then((reply) => thread.hear(structuredClone(reply)))
    })
    return thread.of()('own')
  },
})
