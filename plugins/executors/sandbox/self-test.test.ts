import { expect, it } from 'vitest'
import { unavailable, type Executor } from '../../../src/contract/index.ts'
import { selfTest } from './self-test.ts'

/** Refuses as often, and then plays. */
function refusing(times: number): Executor {
  let refused = 0
  return {
    async run() {
      refused += 1
      if (refused <= times) throw unavailable('no_sandbox', 'the machine is busy')
      return { exitCode: 0, stdout: 'tried', stderr: '', trajectory: [] }
    },
  }
}

it.skipIf(process.platform !== 'linux')('a machine that refuses a sandbox once is asked again, and believed the second time', async () => {
  expect(await selfTest(refusing(1))).toBeNull()
  expect(await selfTest(refusing(2))).toBe('the machine is busy')
})
