/** What was done to the engine's adapters: counted, and the latest of it by name. */
import type { JsonObject } from '../../contract/index.ts'
import { wordsOf } from '../../kit/index.ts'

/** Each is counted under the name beside it. */
const COUNTED = {
  load: 'loads',
  load_failed: 'load_failures',
  load_cleanup: 'load_cleanups',
  cleanup_failed: 'cleanup_failures',
  unload: 'unloads',
  unload_failed: 'unload_failures',
  evict: 'evictions',
  capacity_rejected: 'capacity_rejections',
  stray_unloaded: 'strays_unloaded',
  lost_dropped: 'lost_dropped',
} as const
const RECENT_MAX = 32

export class AdapterLedger {
  readonly #counters: Record<string, number> = Object.fromEntries(Object.values(COUNTED).map((counter) => [counter, 0]))
  readonly #recent: JsonObject[] = []

  note(action: keyof typeof COUNTED, adapter: string, scenario: string | null, error?: unknown): void {
    const counter = COUNTED[action]
    this.#counters[counter] = (this.#counters[counter] ?? 0) + 1
    this.#recent.push({ action, adapter, scenario, ...(error === undefined ? {} : { detail: wordsOf(error) }) })
    if (this.#recent.length > RECENT_MAX) this.#recent.shift()
  }

  status(): { readonly counters: JsonObject; readonly recent_actions: readonly JsonObject[] } {
    return { counters: { ...this.#counters }, recent_actions: [...this.#recent] }
  }
}
