/**
 * A start leaves the garbage of loading the modules, and V8 then keeps as much room for new objects as loading took. Both are given back once
 * there is nothing to do: an eighth of what the service takes.
 */
import type { EventLoopUtilization } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOK_MS = 1000
const IDLE_SHARE_MAX = 0.05
/** A service that has work from the start on would soon take the room again. */
const LOOKS_MAX = 60

/** For a thread, once. Ends without it when the signal is aborted, or when there was work all the time. */
export async function collectOnceIdle(signal?: AbortSignal, collect: () => void = collectGarbage, lookMs = LOOK_MS): Promise<void> {
  let before: EventLoopUtilization | undefined
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    await sleep(lookMs, undefined, { ref: false, ...(signal && { signal }) }).catch(() => undefined)
    if (signal?.aborted === true) return
    // Not read before the first look: Node loads what measures then.
    const now = performance.eventLoopUtilization()
    if (before !== undefined && performance.eventLoopUtilization(now, before).utilization < IDLE_SHARE_MAX) return collect()
    before = now
  }
}

/** V8 offers it to new contexts while the flag is set. Compiled code that was kept under other flags is not used, so it is set for a moment only. */
export function collectGarbage(): void {
  const [v8, vm] = [process.getBuiltinModule('node:v8'), process.getBuiltinModule('node:vm')]
  v8.setFlagsFromString('--expose-gc')
  const collect: unknown = vm.runInNewContext('gc')
  v8.setFlagsFromString('--no-expose-gc')
  // Other collections leave V8 the room.
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
