/** Work that a server's death may refuse. */
import assert from 'node:assert/strict'
import { isRefusal } from '../../../../src/contract/index.ts'

/** False for what was refused with one of those codes; anything else is a defect. */
export async function isDone(work: () => Promise<unknown>, refusals: ReadonlySet<string>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    assert.ok(isRefusal(error) && refusals.has(error.code), String(error))
    return false
  }
}
