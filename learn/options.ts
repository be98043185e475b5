/** The command line of the suite. */
import { parseArgs } from 'node:util'
import { FAMILIES } from './worlds/index.ts'

export interface Options {
  readonly seeds: number
  readonly families: readonly string[]
  readonly isQuick: boolean
  /** Where the results go as JSON; null: nowhere. */
  readonly json: string | null
}

const SEEDS_DEFAULT = 20
const SEEDS_QUICK = 2

export const HELP = `npm run learn -- [options]

Plays the learnable-gap suite: worlds in which a harness lacks something, an adversary among those who propose,
and four gates that decide, each with at most 150 episodes. Everything runs on the practice model, in this process.
Writes docs/learning.md and docs/learning.svg unless --quick or --family leave something out.

  --seeds N        worlds per family (${SEEDS_DEFAULT}; with --quick ${SEEDS_QUICK})
  --family NAME    one family alone: ${Object.keys(FAMILIES).join(', ')}
  --quick          the short form: fewer seeds, shorter simulations
  --json FILE      also write everything that was found
  --help

Exit status: 0 every goal met, 1 a goal missed, 2 the suite could not run.`

/** Null when only help was requested. */
export function readOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string' },
      family: { type: 'string' },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return null
  return {
    seeds: seedsOf(values.seeds, values.quick),
    families: familiesOf(values.family),
    isQuick: values.quick,
    json: values.json ?? null,
  }
}

function seedsOf(text: string | undefined, isQuick: boolean): number {
  if (text === undefined) return isQuick ? SEEDS_QUICK : SEEDS_DEFAULT
  const seeds = Number(text)
  if (!Number.isSafeInteger(seeds) || seeds < 1) throw new Error('--seeds takes a whole number above 0')
  return seeds
}

function familiesOf(name: string | undefined): readonly string[] {
  const families = Object.keys(FAMILIES)
  if (name === undefined) return families
  if (!families.includes(name)) throw new Error(`--family does not know "${name}"; it knows ${families.join(', ')}`)
  return [name]
}
