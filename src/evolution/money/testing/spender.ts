/**
 * A trainer that only spends: `node spender.ts FOLDER COMPONENT CAP`. It says what it finds, then a line for each call once that is on the disk,
 * and ends when the cap of the day is reached.
 */
import { dirname } from 'node:path'
import { FolderDocuments } from '../../../kit/index.ts'
import { Ledger } from '../ledger.ts'
import { Purse } from '../purse.ts'
import { NOON, TOKENS_PER_CALL } from './day.ts'

const [folder = '', component = '', cap = '0'] = process.argv.slice(2)
const ledger = new Ledger(new FolderDocuments(dirname(folder)), component)
const caps = { max_tokens_per_day: Number(cap) * TOKENS_PER_CALL, max_tokens_per_step: 0, max_cost_per_day: 0, max_cost_per_step: 0 }
const purse = new Purse(ledger, { ...caps, prices: {}, sandbox: {} }, 1, () => NOON)
const CALL = { input: TOKENS_PER_CALL - 1, cached: 0, output: 1, model: null, isAnswered: true }

await purse.settle()
process.stdout.write(`found ${ledger.today(NOON).calls}\n`)
while (purse.reached === null) {
  purse.spend('episode', CALL)
  await purse.settle()
  process.stdout.write('spent\n')
}
process.stdout.write('capped\n')
