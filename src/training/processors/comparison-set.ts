/** Groups by name: so many reports that name the same `metadata.comparison_set` are compared with each other. */
import { isObject, type JsonObject } from '../../contract/index.ts'
import type { Grouping } from './groups.ts'
import type { GroupOf } from './reported.ts'

export function byComparisonSet(size: number): GroupOf {
  let slots = 0
  return ({ metadata }: JsonObject): Grouping | string => {
    const key = isObject(metadata) ? metadata['comparison_set'] : undefined
    if (typeof key !== 'string' || key.trim() === '') return 'names no metadata.comparison_set'
    // Every report has a place of its own: which one is nobody's business.
    slots += 1
    return { key, slot: String(slots), size }
  }
}
