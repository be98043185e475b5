/** Publishes every candidate, once the test opens the gate. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { define } from '../../../src/contract/index.ts'

const LOOK_AGAIN_MS = 2
const settings = z.object({ gate: z.string() })

export default define('examiner', {
  make(config) {
    const { gate } = settings.parse(config)
    return {
      async examine(_candidate, signal) {
        await writeFile(`${gate}.reached`, '')
        while (!existsSync(gate)) await sleep(LOOK_AGAIN_MS, undefined, { signal })
        return { select: true }
      },
    }
  },
})
