/** Screens for text that people send and models write: credentials that must not be kept, and words that try to take over a prompt. */

import { withoutHidden } from './readings.ts'
import { holdsSecret } from './secrets.ts'

export type ScreenHit = 'credential_in_text' | 'override_in_text'

const FILLER = '(?:\\s+(?:all|any|the|your|of|every|my|these|those))*'
const OVERRIDES: readonly RegExp[] = [
  new RegExp(
    `\\b(?:ignore|disregard|forget)${FILLER}\\s+(?:previous|prior|above|earlier|preceding)${FILLER}` +
      '\\s+(?:instruction|message|rule|prompt|guideline|direction)s?\\b',
    'i',
  ),
  /\b(?:new|updated|real|actual|true|hidden|secret)\s+(?:system|developer)\s+(?:prompt|message|instructions?)\s*:/i,
  /<\|(?:im_start|im_end|system|start_header_id|end_header_id)\|>/i,
  /\[INST\]|<<SYS>>/i,
]

/** What the text trips over first: a credential before an override. Null when it passes. */
export function screenText(text: string): ScreenHit | null {
  if (holdsSecret(text)) return 'credential_in_text'
  const plain = withoutHidden(text)
  return OVERRIDES.some((shape) => shape.test(plain)) ? 'override_in_text' : null
}
