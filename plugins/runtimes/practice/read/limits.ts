/** The limits a request sets on its answer, whatever its format calls them. */
import type { Json } from '../../../../src/contract/index.ts'
import { listOf } from '../json.ts'

export const limitOf = (value: Json | undefined): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : null

export const stopsOf = (value: Json | undefined): readonly string[] =>
  (typeof value === 'string' ? [value] : listOf(value)).filter((stop): stop is string => typeof stop === 'string' && stop !== '')
