/** Whether a record is of the person who is to be forgotten. */
import { SESSION_TAG, type ForgetOrder, type Json, type RecordRow } from '../../../src/contract/index.ts'
import { tagsWithin } from '../../../src/excerpts/index.ts'

/** Of a body that is gone only the session is known. An import may write the name of a tag in any case, and its value as a number. */
export function hasTag({ request_type, summary }: RecordRow, payload: Uint8Array | null, { tag: [name, value] }: ForgetOrder): boolean {
  if (name === SESSION_TAG && summary?.session === value) return true
  if (payload === null) return false
  const isWanted = (tag: string, said: Json): boolean =>
    tag.toLowerCase() === name.toLowerCase() && (typeof said === 'string' || typeof said === 'number') && String(said) === value
  return tagsWithin(request_type, payload).some(([tag, said]) => isWanted(tag, said))
}
