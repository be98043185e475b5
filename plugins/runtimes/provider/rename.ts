/** A request under the upstream's own name of the model. */
import type { RuntimeCall } from '../../../src/contract/index.ts'
import type { DialectSpec } from '../../../src/dialects/index.ts'
import { cutOut, joined } from '../../../src/kit/index.ts'

type Sent = Pick<RuntimeCall, 'path'> & { readonly pieces: readonly Uint8Array[] }

/** Everything else stays as the client wrote it. */
export function renamed(sent: Sent, { renamePath }: DialectSpec, model: string): Sent {
  if (renamePath !== undefined) return { ...sent, path: renamePath(sent.path, model) }
  const bytes = Buffer.concat(sent.pieces)
  const cut = cutOut(bytes, ['model'])
  if (!cut.values.has('model')) return sent
  return { ...sent, pieces: [joined(bytes, cut, new Map([['model', JSON.stringify(model)]]))] }
}
