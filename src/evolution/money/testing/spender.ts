/**
 * A trainer that only spends: `node spender.ts FOLDER COMPONENT CAP`. It says what it finds, then a line for each call once that is on the disk,
 * and ends when the cap of the day is reached.
 */
import { dirname } from 'node:path'
import { FolderDocuments } from '../../../kit/index.ts'
import { CapReached } from '../caps.ts'
import { Ledger } from '../ledger.ts'
import { Purse } from '../purse.ts'
import { NOON, TOKENS_PER_CALL } from './day.ts'

/** Those that were killed are not waited for. */
const SILENT_MS = 1000

const [folder = '', component = '', cap = '0'] = process.argv.slice(2)
const ledger = new Ledger(new FolderDocuments(dirname(folder)), component, SILENT_MS)
const caps = { max_tokens_per_day: Number(cap) * TOKENS_PER_CALL, max_tokens_per_step: 0, max_cost_per_day: 0, max_cost_per_step: 0 }
const purse = new Purse(ledger, { ...caps, prices: {}, sandbox: {} }, 1, () => NOON)
const BOUND = { input: TOKENS_PER_CALL - 1, output: 1, isBounded: true, model: null }
const CALL = { input: TOKENS_PER_CALL - 1, cached: 0, output: 1, model: null, isAnswered: true }

await purse.settle()
process.stdout.write(`found ${ledger.today(NOON).calls}\n`)
while (purse.reached === null) {
  try {
    purse.spend('episode', CALL, await purse.hold('episode', BOUND, new AbortController().signal))
    await purse.settle()
    process.stdout.write('spent\n')
  } catch (error) {
    if (!(error instanceof CapReached)) throw error
  }
}
process.stdout.write('capped\n')
