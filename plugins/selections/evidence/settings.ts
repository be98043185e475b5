/** EvidenceSettings of the evidence selection, from the `evolution` section. */
import { invalid, type JsonObject } from '../../../src/contract/index.ts'

export interface EvidenceSettings {
  /** The probability of a false publication over a scenario's life. */
  readonly alpha: number
  /** How much worse the mean score may be to count as not worse. */
  readonly margin: number
}

const ALPHA_DEFAULT = 0.05
const ALPHA_MAX = 0.5
const MARGIN_DEFAULT = 0.1
const MARGIN_MAX = 1

export function readSettings({ alpha = ALPHA_DEFAULT, margin = MARGIN_DEFAULT }: JsonObject): EvidenceSettings {
  return { alpha: upTo(ALPHA_MAX, 'alpha', alpha), margin: upTo(MARGIN_MAX, 'margin', margin) }
}

function upTo(most: number, key: string, value: unknown): number {
  if (typeof value !== 'number' || !(value > 0 && value <= most))
    throw invalid('bad_setting', `evolution.${key} must be a number above 0 and at most ${most}`)
  return value
}
