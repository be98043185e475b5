/** Text as people count it, in code points and not in UTF-16 units, and whether all of it is ASCII. */

export function countCodePoints(text: string): number {
  let count = 0
  for (const _point of text) count += 1
  return count
}

export function firstCodePoints(text: string, max: number): string {
  if (text.length <= max) return text
  return Array.from(text.slice(0, max * 2))
    .slice(0, max)
    .join('')
}

// oxlint-disable-next-line no-control-regex -- all of ASCII
const ASCII = /^[\0-\x7f]*$/
export const isAscii = (text: string): boolean => ASCII.test(text)
