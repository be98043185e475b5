/**
 * A start leaves the garbage of loading the modules, and V8 then keeps as much room for new objects as loading took. Both are given back once
 * there is nothing to do: an eighth of what the service takes.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import v8 from 'node:v8'
import vm from 'node:vm'

const LOOK_MS = 1000
const IDLE_SHARE_MAX = 0.05
/** A service that has work from the start on would soon take the room again. */
const LOOKS_MAX = 60

/** For a thread, once. Ends without it when the signal is aborted, or when there was work all the time. */
export async function collectOnceIdle(signal?: AbortSignal, collect: () => void = collectGarbage, lookMs = LOOK_MS): Promise<void> {
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    const before = performance.eventLoopUtilization()
    await sleep(lookMs, undefined, { ref: false, ...(signal && { signal }) }).catch(() => undefined)
    if (signal?.aborted === true) return
    if (performance.eventLoopUtilization(before).utilization < IDLE_SHARE_MAX) return collect()
  }
}

/** V8 offers it to new contexts while the flag is set. Compiled code that was kept under other flags is not used, so it is set for a moment only. */
export function collectGarbage(): void {
  v8.setFlagsFromString('--expose-gc')
  const collect: unknown = vm.runInNewContext('gc')
  v8.setFlagsFromString('--no-expose-gc')
  if (typeof collect === 'function') collect()
}
