/** Which strokes mean something: one key, or a key that opens and one that follows it soon. */

export type KeyMap = Readonly<Record<string, () => void>>

export interface Stroke {
  readonly key: string
  /** Of the event, in milliseconds. */
  readonly at: number
}

const FOLLOWS_WITHIN_MS = 1200

/** The newest map wins, so that a panel answers before the view under it. Null: no map has this stroke. */
export function meant(maps: readonly KeyMap[], before: Stroke | null, stroke: Stroke): (() => void) | null {
  const isPair = before !== null && stroke.at - before.at <= FOLLOWS_WITHIN_MS
  return (isPair ? found(maps, `${before.key} ${stroke.key}`) : null) ?? found(maps, stroke.key)
}

/** Whether it may be the first of a pair. */
export const opens = (maps: readonly KeyMap[], key: string): boolean =>
  maps.some((map) => Object.keys(map).some((name) => name.startsWith(`${key} `)))

function found(maps: readonly KeyMap[], name: string): (() => void) | null {
  for (const map of maps.toReversed()) if (Object.hasOwn(map, name)) return map[name] ?? null
  return null
}
