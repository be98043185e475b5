/** Screens for text that people send and models write: credentials that must not be kept, and words that try to take over a prompt. */

export type ScreenHit = 'credential_in_text' | 'override_in_text'

/** Shapes of keys that vendors hand out, case-sensitive, anywhere in the text. */
const CREDENTIALS: readonly RegExp[] = [
  /sk-[A-Za-z0-9_-]{16}/,
  /gh[po]_[A-Za-z0-9]{20}/,
  /github_pat_[A-Za-z0-9_]{20}/,
  /xox[bapars]-[A-Za-z0-9-]{10}/,
  /AKIA[A-Z0-9]{16}/,
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/,
]

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
  const plain = withoutDisguise(text)
  if (CREDENTIALS.some((shape) => shape.test(text) || shape.test(plain))) return 'credential_in_text'
  return OVERRIDES.some((shape) => shape.test(plain)) ? 'override_in_text' : null
}

/** Full-width letters and invisible characters inside a word read the same to a model. */
function withoutDisguise(text: string): string {
  return text.normalize('NFKC').replaceAll(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '')
}
