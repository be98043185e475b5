/** Plots the sealed score over episodes as SVG, one line per gate with a band over the seeds, for light and dark pages. */
import { EPISODES } from '../life.ts'
import { distinct, meanOf, quantileOf, type LifeOf, type Results } from '../results.ts'

const WIDTH = 720
const HEIGHT = 400
const LEFT = 52
const RIGHT = 150
const TOP = 36
const BOTTOM = 44
/** The distance of the points. */
const EPISODES_STEP = 5
const BAND = [0.1, 0.9] as const
/** The colours also differ in lightness, for colour-blind readers. */
const COLOURS: Readonly<Record<string, string>> = { 'no gate': '#b5651d', 'strict mean': '#2f6fb7', evidence: '#128a5a' }

export function plotOf({ lives }: Results): string {
  const lines = Object.keys(COLOURS).map((gate) => ({
    gate,
    points: pointsOf(lives.filter((life) => life.gate === gate && life.gaps === 'wide')),
  }))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Sealed score over episodes, by gate" font-family="system-ui, sans-serif" font-size="12">`,
    '<style>:root{color:#24292f;background:#fff}@media(prefers-color-scheme:dark){:root{color:#d5d9de;background:#0d1117}}text{fill:currentColor}.grid{stroke:currentColor;stroke-opacity:.18}</style>',
    text(LEFT, 20, 'Sealed score over episodes played, wide gaps: median over the seeds, and the middle 80 %'),
    ...gridLines(),
    ...lines.map(drawn),
    ...labelsOf(lines),
    text(LEFT + (WIDTH - LEFT - RIGHT) / 2, HEIGHT - 8, 'episodes', 'middle'),
    '</svg>',
    '',
  ].join('\n')
}

const x = (episode: number): number => round(LEFT + (episode / EPISODES) * (WIDTH - LEFT - RIGHT))
const y = (score: number): number => round(HEIGHT - BOTTOM - score * (HEIGHT - TOP - BOTTOM))
const round = (value: number): number => Math.round(value * 10) / 10
const text = (left: number, top: number, words: string, anchor = 'start', more = ''): string =>
  `<text x="${left}" y="${top}" text-anchor="${anchor}"${more}>${words}</text>`

function gridLines(): readonly string[] {
  const scores = [0, 0.2, 0.4, 0.6, 0.8, 1]
  const across = scores.flatMap((score) => [
    `<line class="grid" x1="${x(0)}" x2="${x(EPISODES)}" y1="${y(score)}" y2="${y(score)}"/>`,
    text(LEFT - 8, y(score) + 4, score.toFixed(1), 'end'),
  ])
  const below = [0, 50, 100, 150].map((episode) => text(x(episode), HEIGHT - BOTTOM + 18, String(episode), 'middle'))
  return [...across, ...below]
}

interface Line {
  readonly gate: string
  readonly points: readonly { readonly episode: number; readonly low: number; readonly middle: number; readonly high: number }[]
}

function pointsOf(lives: readonly LifeOf[]): Line['points'] {
  const episodes = Array.from({ length: EPISODES / EPISODES_STEP + 1 }, (_, at) => at * EPISODES_STEP)
  const seeds = distinct(lives.map(({ seed }) => String(seed)))
  return episodes.map((episode) => {
    // All families of a seed together are one sample.
    const scores = seeds.map((seed) => meanOf(lives.filter((life) => String(life.seed) === seed).map((life) => servedAt(life, episode))))
    return { episode, low: quantileOf(scores, BAND[0]), middle: quantileOf(scores, 0.5), high: quantileOf(scores, BAND[1]) }
  })
}

const servedAt = ({ curve }: LifeOf, episode: number): number => curve.findLast((point) => point.episode <= episode)?.sealed ?? 0

const colourOf = (gate: string): string => COLOURS[gate] ?? 'currentColor'

function drawn({ gate, points }: Line): string {
  const top = points.map(({ episode, high }) => `${x(episode)},${y(high)}`)
  const bottom = points.toReversed().map(({ episode, low }) => `${x(episode)},${y(low)}`)
  const middle = points.map((point) => `${x(point.episode)},${y(point.middle)}`)
  return [
    `<polygon points="${[...top, ...bottom].join(' ')}" fill="${colourOf(gate)}" fill-opacity=".18"/>`,
    `<polyline points="${middle.join(' ')}" fill="none" stroke="${colourOf(gate)}" stroke-width="2.5"/>`,
  ].join('\n')
}

/** Labels at the ends of the lines, the best on top, moved apart where they would overlap. */
function labelsOf(lines: readonly Line[]): readonly string[] {
  const ends = lines.map(({ gate, points }) => ({ gate, score: points.at(-1)?.middle ?? 0 }))
  let lowest = -LABEL_HEIGHT
  return ends
    .toSorted((one, other) => other.score - one.score)
    .map(({ gate, score }) => {
      lowest = Math.max(y(score) + 4, lowest + LABEL_HEIGHT)
      return text(x(EPISODES) + 8, lowest, `${gate} ${score.toFixed(2)}`, 'start', ` style="fill:${colourOf(gate)}" font-weight="600"`)
    })
}
const LABEL_HEIGHT = 15
