/** The powers of a change: what it could do on a machine, whatever the kind of its entry. */

/** From the least to the most; only `words` is published by evidence alone. */
export const POWERS = ['words', 'orders', 'hidden', 'reads', 'runs', 'grants', 'reaches', 'removes'] as const
export type Power = (typeof POWERS)[number]

/** One sentence each, for people. */
export const POWER_SENTENCES: Readonly<Record<Power, string>> = {
  words: 'it is plain text for the model',
  orders: 'it may tell the agent to fetch, run, send or ignore something',
  hidden: 'it holds text that people do not see',
  reads: 'it may read files of your machine',
  runs: 'it may run programs on your machine',
  grants: 'it may let the agent act without asking you',
  reaches: 'it may connect to other machines',
  removes: 'it takes back what a person wrote or protected',
}

/** Why a change has a power. `entry` is the id of the entry, or the path of a file that no entry accounts for. */
export interface PowerReason {
  readonly power: Power
  readonly entry: string
  readonly why: string
}
