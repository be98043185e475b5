/** Waiting for what must happen; a test that waits in vain fails by its own timeout. */
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_AGAIN_MS = 2
/** A look may cost a request: one that waits long looks rarely, and leaves the machine to what it waits for. */
const LOOK_AGAIN_MS_MAX = 50
const SLOWER = 1.15

export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let pause = LOOK_AGAIN_MS; !(await condition()); pause = Math.min(pause * SLOWER, LOOK_AGAIN_MS_MAX)) await sleep(pause)
}
