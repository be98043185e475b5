/** What several processes over one store may take together. */

/** Shares of what all processes together may take in a window of time, or hold at once. */
export interface ShareStore {
  /**
   * Says what of its shares this process spent and still holds, and takes more, all asks in one go. What all of them spent and hold stays
   * within the limit, but for the last unit and for what was spent beyond a share, which counts in the next windows. What a process held
   * that is gone is free again; what it spent stays spent. May be repeated: what is said is absolute.
   */
  take(asks: readonly ShareAsk[]): Promise<SharesTaken>
  /** What was spent and is held now, by all of them, in the order of the windows asked for. */
  used(windows: readonly ShareWindow[]): Promise<readonly number[]>
}
export interface ShareWindow {
  readonly key: string
  /** How long a window is; 0 for what is held until it is given back. Windows begin at multiples of it since the epoch. */
  readonly seconds: number
}
export interface ShareAsk extends ShareWindow {
  readonly limit: number
  /** The window that the next two are of; null before the first answer. */
  readonly window: number | null
  readonly spent: number
  readonly held: number
  /** What is wanted now, in whole units. */
  readonly need: number
  readonly unit: number
  /** What would be good to have besides. Less of it is given the less there is. */
  readonly extra: number
}
export interface SharesTaken {
  /** Another one than before: this process counted as gone, and holds nothing but what was granted now. */
  readonly member: number
  /** How many processes share. */
  readonly members: number
  /** In the order of the asks. */
  readonly grants: readonly ShareGrant[]
}
export interface ShareGrant {
  readonly granted: number
  readonly window: number
  readonly endsInSeconds: number
}
