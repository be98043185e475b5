/** A limit on the nesting of JSON. */
import type { Json } from '../../../src/contract/index.ts'

/** Whether the value nests deeper than the limit. Walks without recursion: the value may be as deep as its sender likes. */
export function isDeeperThan(value: Json, depthMax: number): boolean {
  let level: readonly Json[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > depthMax) return true
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values<Json>(one) : []))
  }
  return false
}
