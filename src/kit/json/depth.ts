/** Whether lists and objects are nested deeper than so many levels. Walks without recursion: the value may be as deep as its sender likes. */
export function isDeeperThan(value: unknown, depthMax: number): boolean {
  let level = [value].filter(isContainer)
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > depthMax) return true
    level = level.flatMap((each) => Object.values(each).filter(isContainer))
  }
  return false
}

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null
