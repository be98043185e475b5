/** What a tool gave back, for formats that do not say whether it failed. */
import type { Part, ResultPart } from '../conversation.ts'

/** The result's own words say that it is an error. */
export function resultTexts({ parts, isError, callId }: ResultPart, leftOut: string[]): readonly Part[] {
  if (isError) leftOut.push(`is_error of the result of ${callId ?? 'a call'}`)
  return parts
}
