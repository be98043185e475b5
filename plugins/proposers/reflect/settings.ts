/** The proposer's own settings: `reflect` in the recipe's `evolution` section. */
import { z } from 'zod'
import { invalid, type JsonObject } from '../../../src/contract/index.ts'

const TRIALS_MAX_DEFAULT = 12
const CANDIDATES_MAX_DEFAULT = 3

export interface ReflectSettings {
  /** Episodes that one step may play before it proposes. */
  readonly trialsMax: number
  /** Edits that one step may try. */
  readonly candidatesMax: number
}

const section = z
  .strictObject({
    trials_max: z.int().min(0).default(TRIALS_MAX_DEFAULT),
    candidates_max: z.int().min(1).default(CANDIDATES_MAX_DEFAULT),
  })
  .prefault({})

export function readSettings({ reflect }: JsonObject): ReflectSettings {
  const { data } = section.safeParse(reflect ?? {})
  if (data === undefined)
    throw invalid('bad_setting', 'evolution.reflect must be {trials_max, candidates_max}: whole numbers, candidates_max 1 or more')
  return { trialsMax: data.trials_max, candidatesMax: data.candidates_max }
}
