/** Small pictures without a word in them, drawn in units of their own and stretched to the width there is. */
import { markup, type Html, type Piece } from './html.ts'

type Tone = 'win' | 'loss' | 'tie'

/** From the words that say the same to the picture. */
type Drawing = (words: string) => Html

const HEIGHT = 20
const MIDDLE = 10
/** Few marks are no wider than many. */
const PLACES_MIN = 36

/** One mark for each difference: up for a win, down for a loss, as far as it goes; a tie stays on the line. */
export function marks(differences: readonly number[]): Drawing {
  const width = Math.max(PLACES_MIN, differences.length)
  const drawn = differences.map((difference, place) => {
    const height = difference === 0 ? 2 : Math.max(2, 9 * Math.min(1, Math.abs(difference)))
    const top = difference === 0 ? MIDDLE - 1 : difference > 0 ? MIDDLE - height : MIDDLE
    return rect(difference === 0 ? 'tie' : difference > 0 ? 'win' : 'loss', place + 0.15, top, 0.7, height)
  })
  return (words) => svg('pairs', words, width, [rect('axis', 0, MIDDLE - 0.2, width, 0.4), drawn])
}

/** From 0 to 100. */
export interface Span {
  readonly from: number
  readonly to: number
  readonly tone: Tone
}

/** A span on a line, and the places that matter on it. */
export function bar({ from, to, tone }: Span, lines: Readonly<Record<string, number>>): Drawing {
  const band = rect(`band ${tone}`, from, 5, Math.max(0.4, to - from), 10)
  const drawn = Object.entries(lines).map(([name, at]) => rect(name, at - 0.2, name === 'mean' ? 3 : 0, 0.4, name === 'mean' ? 14 : HEIGHT))
  return (words) => svg('bar', words, 100, [rect('axis', 0, MIDDLE - 0.3, 100, 0.6), band, drawn])
}

const svg = (name: string, words: string, width: number, drawn: Piece): Html =>
  markup`<svg class="${name}" role="img" aria-label="${words}" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none">${drawn}</svg>`

const rect = (name: string, x: number, y: number, width: number, height: number): Html =>
  markup`<rect class="${name}" x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"/>`

/** Nobody sees a smaller difference. */
const short = (value: number): number => Number(value.toFixed(2))
