/** Stored text as it may be shown: characters that would reorder, hide or break what a person reads are written out by their number. */
import { showHidden } from '@svc-ai/client/hidden'

/** Line ends of other systems are line ends. */
export const visible = (text: string): string => showHidden(text.replaceAll('\r\n', '\n'))
