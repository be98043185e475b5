/** The parts of a turn as a page shows them: JSON laid out, pictures told from addresses. */
import type { Part } from '../../../../src/dialects/readers/index.ts'
import { pretty, prettyText } from '../../../../src/presentation/index.ts'

export type ShownPart =
  | { readonly kind: 'text' | 'thinking' | 'refusal'; readonly text: string }
  /** `source` is a data address; the browser asks nobody for it. */
  | { readonly kind: 'image'; readonly source: string }
  /** Something that lies elsewhere: shown as its address, never loaded. */
  | { readonly kind: 'address'; readonly what: string; readonly address: string }
  | { readonly kind: 'call'; readonly name: string; readonly callId: string | null; readonly input: string }
  | { readonly kind: 'result'; readonly callId: string | null; readonly isError: boolean; readonly parts: readonly ShownPart[] }
  /** Of a type not known here. */
  | { readonly kind: 'other'; readonly type: string; readonly json: string }

const WITHHELD = '(withheld by the provider)'
/** SVG is left out: it is a document, and says more than a picture. */
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp|avif|bmp);base64,/i

export const shownParts = (parts: readonly Part[]): readonly ShownPart[] => parts.map(shownPart)

function shownPart(part: Part): ShownPart {
  switch (part.kind) {
    case 'thinking':
      return { kind: 'thinking', text: part.text ?? WITHHELD }
    case 'image': {
      const { address } = part
      return PICTURE.test(address) ? { kind: 'image', source: address } : { kind: 'address', what: 'image', address }
    }
    case 'call': {
      const { name, id, input } = part
      return { kind: 'call', name, callId: id, input: typeof input === 'string' ? prettyText(input) : pretty(input) }
    }
    case 'result':
      return { kind: 'result', callId: part.callId, isError: part.isError, parts: shownParts(part.parts) }
    case 'other':
      return { kind: 'other', type: part.type, json: pretty(part.value) }
    default:
      return part
  }
}
