/** A scenario of weights: service, trainer and engine are killed at every point of a job, which must end as in an undisturbed run. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { begin } from '../../needs/ready.ts'
import { violation, type CrashOptions, type Oracle, type Trial, type Violation } from '../oracle.ts'
import { randomOf } from '../random.ts'
import { attempt, nameOf, type Attack, type Outcome } from './attempt.ts'
import { judge, type Expected } from './oracle.ts'
import { POINTS, type Point } from './points.ts'
import { record, type Recording } from './client.ts'
import { VICTIMS, type Victim } from './trio.ts'

/** Few cores are needed by each: much of a run is waiting for what was killed. */
const AT_ONCE = 2
const DELAY_MS_MAX = 300
/** Where each has most to lose. */
const SHORT: Readonly<Record<Victim, readonly Point[]>> = {
  service: ['loading'],
  trainer: ['checkpoint'],
  engine: ['row'],
}

const DELAYS_FULL = 3

export const oracle: Oracle = {
  kills: VICTIMS.length * POINTS.length * (1 + DELAYS_FULL),
  shortKills: Object.values(SHORT).flat().length,
  open: (directory, options) => Promise.resolve(new WeightTrial(directory, attacksOf(options))),
}

function attacksOf({ short, delays, seed, only }: CrashOptions): readonly Attack[] {
  const random = randomOf(seed)
  const all = VICTIMS.flatMap((who) =>
    (short ? SHORT[who] : POINTS).flatMap((point): readonly Attack[] => [
      { who, point, afterMs: null },
      ...Array.from({ length: short ? 0 : delays }, () => ({ who, point, afterMs: random.between(1, DELAY_MS_MAX) })),
    ]),
  )
  return all.filter((attack) => nameOf(attack).includes(only))
}

class WeightTrial implements Trial {
  readonly kills: number
  readonly #directory: string
  readonly #attacks: readonly Attack[]
  #results: readonly Result[] = []

  constructor(directory: string, attacks: readonly Attack[]) {
    this.#directory = directory
    this.#attacks = attacks
    this.kills = attacks.length
  }

  async endure(say: (line: string) => void): Promise<readonly Violation[]> {
    await begin(['torch', 'llama', 'tiny model'])
    const recording = await record(this.#directory)
    const undisturbed = await attempt(this.#directory, recording, null)
    const expected: Expected = { batch: recording.batch, undisturbed }
    const first = judge(null, undisturbed, expected)
    if (first.length > 0) return first.map((line) => violation('undisturbed', line))
    this.#results = await this.#attackAll(recording, expected, say)
    printTable(this.#results)
    return this.#results.flatMap(({ attack, broken }) => broken.map((line) => violation(nameOf(attack), line)))
  }

  outcome(): object {
    return { kills: this.#results.length }
  }

  summary(): string {
    return `${this.#results.length} kills`
  }

  async #attackAll(recording: Recording, expected: Expected, say: (line: string) => void): Promise<readonly Result[]> {
    const waiting = [...this.#attacks]
    const done: Result[] = []
    const work = async (): Promise<void> => {
      for (let attack = waiting.shift(); attack !== undefined; attack = waiting.shift()) {
        const result = await this.#resultOf(recording, expected, attack)
        done.push(result)
        say(`${done.length}/${this.#attacks.length} killed ${nameOf(attack)}: ${result.broken.length} broken`)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    return done
  }

  async #resultOf(recording: Recording, expected: Expected, attack: Attack): Promise<Result> {
    try {
      const outcome = await attempt(this.#directory, recording, attack)
      const broken = judge(attack, outcome, expected)
      if (broken.length === 0) rmSync(join(this.#directory, nameOf(attack)), { recursive: true })
      return { attack, outcome, broken }
    } catch (error) {
      return { attack, outcome: null, broken: [error instanceof Error ? error.message : String(error)] }
    }
  }
}

interface Result {
  readonly attack: Attack
  /** Null when it never rested. */
  readonly outcome: Outcome | null
  readonly broken: readonly string[]
}

const WIDTH = 32

/** A line for each point: how many runs of each process held, and how long the longest took. */
function printTable(results: readonly Result[]): void {
  const points = POINTS.filter((point) => results.some(({ attack }) => attack.point === point))
  const lines = [['killed at', ...VICTIMS], ...points.map((point) => [point, ...VICTIMS.map((who) => cellOf(results, point, who))])]
  for (const line of lines)
    process.stdout.write(
      `${line
        .map((cell) => cell.padEnd(WIDTH))
        .join('')
        .trimEnd()}\n`,
    )
}

function cellOf(results: readonly Result[], point: Point, who: Victim): string {
  const runs = results.filter(({ attack }) => attack.point === point && attack.who === who)
  if (runs.length === 0) return '-'
  const held = runs.filter(({ broken }) => broken.length === 0).length
  const seconds = Math.max(...runs.map(({ outcome }) => outcome?.seconds ?? Infinity))
  const again = runs.filter(({ outcome }) => (outcome?.statesSaved ?? 0) > 1).length
  return `${held}/${runs.length} held, ${seconds.toFixed(1)} s${again === 0 ? '' : `, ${again} retrained`}`
}
