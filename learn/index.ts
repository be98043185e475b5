/**
 * The learnable-gap suite: worlds with a known way to get better, played by the real trainer under several gates, and the same gates over
 * simulated outcomes by the hundred.
 * Does not call any model but the built-in mock model, and starts no process.
 */
import { parseArgs } from 'node:util'
import answer from '../plugins/evaluators/answer/index.ts'
import text from '../plugins/proposers/text/index.ts'
import evidence from '../plugins/selections/evidence/index.ts'
import { levelOf } from '../plugins/selections/evidence/levels.ts'
import { schema } from '../src/config/schema.ts'
import type { Selection } from '../src/contract/index.ts'
import { gatesWith, KNOWING, PROVISIONAL, strictMean } from './gates.ts'
import { GEPA } from './gepa/environment.ts'
import type { Gepa } from './gepa/life.ts'
import { live, publishesNoOp } from './life.ts'
import { meanOf, OURS, quantileOf } from './results.ts'
import type { Chains, Gaps, LifeOf, NoOps, NoOpWorld, Results } from './results.ts'
import { harmfulChain, noOpChain } from './simulate/chains.ts'
import { powerOf } from './simulate/power.ts'
import { MODEST, WIDE } from './worlds/index.ts'
import type { World } from './worlds/world.ts'

/** Repeats of the simulations: no-op scenarios, harmful scenarios, decisions on a real gain. */
const FULL = { noOps: 200, chains: 100, power: 1000 }
const QUICK = { noOps: 20, chains: 2, power: 50, noOpScenarios: 1, noOpOffers: 5 }
const EFFECT = 0.1

export const WORLDS = { ...WIDE, ...MODEST }

/** `tell` receives the progress, from 0 to 1. */
export async function playSuite(options: Options, gepa: Gepa | null, tell: (done: number) => void): Promise<Results> {
  const selection = await shippedGate()
  const worlds = Array.from({ length: options.seeds }, (_, at) =>
    options.families.map((family) => ({ family, seed: options.first + at })),
  ).flat()
  const lives: LifeOf[] = []
  for (const [index, { family, seed }] of worlds.entries()) {
    lives.push(...(await livesIn(family, seed, options, selection, gepa)))
    tell((index + 1) / (worlds.length + SIMULATION_WORLDS))
  }
  const noOpWorlds: NoOpWorld[] = []
  if (options.isQuick) for (const family of options.families) noOpWorlds.push(await noOpsIn(family, QUICK.noOpScenarios, QUICK.noOpOffers))
  const sizes = options.isQuick || isPartial(options) ? QUICK : FULL
  const simulated = [strictMean, selection].map((each, index) => ({ gate: index === 0 ? 'strict mean' : OURS, selection: each }))
  const noOps = simulated.map((each) => noOpsOf(each, sizes.noOps))
  const ours = chainsOf({ gate: OURS, selection }, sizes.chains)
  const chains = [
    chainsOf({ gate: 'strict mean', selection: strictMean }, sizes.chains),
    chainsOf({ gate: 'strict mean, at equal episodes', selection: strictMean }, sizes.chains, ours.episodesMean),
    ours,
  ]
  const level = levelOf(schema.parse({}).evolution.alpha, { decided: 0, selected: 0 })
  const power = powerOf(selection, EFFECT, level, sizes.power)
  tell(1)
  return { seeds: options.seeds, lives, noOps, noOpWorlds, power, chains }
}

/** Where gaps are modest, no gate and a naive grader would teach nothing new. */
async function livesIn(
  family: string,
  seed: number,
  { gates, isQuick }: Options,
  selection: Selection,
  gepa: Gepa | null,
): Promise<readonly LifeOf[]> {
  const [world, gaps] = [worldOf(family, `reported ${family} ${seed}`), gapsOf(family)]
  const lives: LifeOf[] = []
  for (const gate of gatesWith(selection)) {
    if (gates.length > 0 ? !gates.includes(gate.name) : isQuick && !OF_GOALS.has(gate.name)) continue
    if (gaps === 'modest' ? !MODEST_GATES.has(gate.name) : MODEST_ALONE.has(gate.name)) continue
    lives.push({ gaps, family, gate: gate.name, seed, ...(await live(world, gate, BUILTIN)) })
  }
  return gepa === null ? lives : [...lives, { gaps, family, gate: GEPA, seed, ...(await gepa.live(world, seed)) }]
}
/** The short form leaves out what they are compared with. */
const OF_GOALS: ReadonlySet<string> = new Set([OURS, PROVISIONAL])
const MODEST_ALONE: ReadonlySet<string> = new Set([PROVISIONAL, KNOWING])
const MODEST_GATES: ReadonlySet<string> = new Set(['strict mean', OURS, ...MODEST_ALONE])

const gapsOf = (family: string): Gaps => (family in MODEST ? 'modest' : 'wide')

/** Scenarios of a world that are offered no-ops alone. */
export async function noOpsIn(family: string, scenarios: number, offers: number): Promise<NoOpWorld> {
  const selection = await shippedGate()
  let publishing = 0
  for (let seed = 0; seed < scenarios; seed += 1) {
    const world = worldOf(family, `no-ops ${family} ${seed}`)
    publishing += Number(await publishesNoOp(world, { name: OURS, selection, isNaive: false, isScreened: true }, BUILTIN, offers))
  }
  return { family, offers, scenarios, publishing }
}

/** The simulations take about as long as this many worlds. */
const SIMULATION_WORLDS = 200

export const BUILTIN = { evaluator: answer.plugin, proposer: text.plugin }

/** With the settings that ship. */
export async function shippedGate(): Promise<Selection> {
  const { plugin } = evidence
  return 'make' in plugin ? plugin.make(JSON.parse(JSON.stringify(schema.parse({}).evolution))) : plugin
}

/** The seeds are not those that the settings were tuned on. */
function worldOf(family: string, seed: string): World {
  const world = WORLDS[family]?.(seed)
  if (world === undefined) throw new Error(`there is no family ${family}`)
  return world
}

interface Simulated {
  readonly gate: string
  readonly selection: Selection
}

function noOpsOf({ gate, selection }: Simulated, scenarios: number): NoOps {
  const chains = Array.from({ length: scenarios }, (_, seed) => noOpChain(selection, seed))
  return { gate, scenarios, publishing: chains.filter(({ published }) => published > 0).length }
}

function chainsOf({ gate, selection }: Simulated, scenarios: number, episodesMax = Infinity): Chains {
  const chains = Array.from({ length: scenarios }, (_, seed) => harmfulChain(selection, seed, episodesMax))
  const [gains, drawdowns] = [chains.map(({ gain }) => gain), chains.map(({ drawdown }) => drawdown)]
  return {
    gate,
    gainMean: meanOf(gains),
    gainLow: quantileOf(gains, 0.05),
    episodesMean: meanOf(chains.map(({ episodes }) => episodes)),
    drawdownHigh: quantileOf(drawdowns, 0.95),
    drawdownWorst: Math.max(...drawdowns),
  }
}

export interface Options {
  readonly seeds: number
  /** The first of them. */
  readonly first: number
  readonly families: readonly string[]
  /** These alone; empty: all of them, and GEPA. */
  readonly gates: readonly string[]
  readonly isQuick: boolean
  /** Where the results go as JSON; null: nowhere. */
  readonly json: string | null
}

/** Whether something is left out that the page shows. */
export const isPartial = ({ families, gates }: Options): boolean => gates.length > 0 || families.length < Object.keys(WORLDS).length

const SEEDS_DEFAULT = 20
const SEEDS_QUICK = 1

export const HELP = `npm run learn -- [options]

Plays the learnable-gap suite: worlds in which a harness lacks something, an adversary among those who propose,
and gates that decide, each with at most 150 episodes. Everything runs on mock models, in this process; GEPA, installed from
PyPI into a virtual environment, plays the same worlds where that is possible, and not in the short form.
Writes docs/learning.md and docs/learning.svg unless --quick, --family or --gate leave something out.

  --seeds N        worlds per family (${SEEDS_DEFAULT}; with --quick ${SEEDS_QUICK})
  --first N        the first seed (0)
  --family NAME    this family; may be given several times (all): ${Object.keys(WORLDS).join(', ')}
  --gate NAME      this gate alone, and not GEPA; may be given several times, such as --gate '${PROVISIONAL}'
  --quick          the short form: fewer seeds, shorter simulations
  --json FILE      also write everything that was found
  --help

Exit status: 0 every goal met, 1 a goal missed, 2 the suite could not run.`

/** Null when only help was requested. */
export function readOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string' },
      first: { type: 'string', default: '0' },
      family: { type: 'string', multiple: true, default: [] },
      gate: { type: 'string', multiple: true, default: [] },
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return null
  return {
    seeds: seedsOf(values.seeds, values.quick),
    first: firstOf(values.first),
    families: familiesOf(values.family),
    gates: gatesOf(values.gate),
    isQuick: values.quick,
    json: values.json ?? null,
  }
}

function seedsOf(given: string | undefined, isQuick: boolean): number {
  if (given === undefined) return isQuick ? SEEDS_QUICK : SEEDS_DEFAULT
  const seeds = Number(given)
  if (!Number.isSafeInteger(seeds) || seeds < 1) throw new Error('--seeds takes a whole number above 0')
  return seeds
}

function firstOf(given: string): number {
  const first = Number(given)
  if (!Number.isSafeInteger(first) || first < 0) throw new Error('--first takes a whole number')
  return first
}

function familiesOf(names: readonly string[]): readonly string[] {
  const families = Object.keys(WORLDS)
  const stranger = names.find((name) => !families.includes(name))
  if (stranger !== undefined) throw new Error(`--family does not know "${stranger}"; it knows ${families.join(', ')}`)
  return names.length === 0 ? families : names
}

function gatesOf(names: readonly string[]): readonly string[] {
  const gates = gatesWith(strictMean).map(({ name }) => name)
  const stranger = names.find((name) => !gates.includes(name))
  if (stranger !== undefined) throw new Error(`--gate does not know "${stranger}"; it knows "${gates.join('", "')}"`)
  return names
}
