/** A stored text, shown as text whatever it holds, and kept from turning around what stands beside it. */
import { visible } from './visible.ts'

export function Text({ value }: { readonly value: string }) {
  return <bdi>{visible(value)}</bdi>
}
