/** Waiting for what must happen; a test that waits in vain fails by its own timeout. */
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_AGAIN_MS = 2

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(LOOK_AGAIN_MS)
}
