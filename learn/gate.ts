/** `npm run learn:gate`: the gate without agents: what it publishes where nothing helps, and what it takes to find a gain. */
import { readFile, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import {
  graded,
  inFamilies,
  mixed,
  noisy,
  powerIn,
  scenariosPublishing,
  seeded,
  settled,
  skewed,
  sparse,
  swapped,
  type SimulatedWorld,
} from '../plugins/selections/evidence/testing.ts'
import { passable, requestsIn, usual, type SimulatedRequests } from '../plugins/selections/evidence/testing-requests.ts'
import { playHidden, type Care, type HiddenWorld } from './simulate/hidden.ts'
import { forTerminal, GATE_MARKS, withTables, type Table } from './report/tables.ts'

const PAGE = new URL('../docs/learning.md', import.meta.url)
const RATE_MAX = 0.05
const EXIT_MISSED = 1

const { values: options } = parseArgs({
  options: {
    scenarios: { type: 'string', default: '100' },
    runs: { type: 'string', default: '200' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const HELP = `npm run learn:gate -- [options]

  --scenarios N    scenarios of 50 changes that do nothing, per world (100)
  --runs N         decisions per gain (200)
  --write          write the tables into docs/learning.md

Exit status: 0 when at most 5 of 100 scenarios of every world published a change, but for those whose families nobody named; else 1.`

const NO_OPS: readonly (readonly [string, SimulatedWorld])[] = [
  ['60 tasks, every play a new throw', noisy(60, 0)],
  ['60 tasks, half of the luck shared by seeds', seeded(60, 0, 0.5)],
  ['60 tasks, 9 of 10 of the luck shared by seeds', seeded(60, 0, 0.9)],
  ['60 tasks, plays of a task always agree', settled(noisy(60, 0))],
  ['20 tasks, each ±20 points by a coin', swapped(20, 0.2)],
  ['40 tasks, each ±30 points by a coin', swapped(40, 0.3)],
  ['60 tasks, each ±50 points by a coin', swapped(60, 0.5)],
  ['12 families of 5, plays of a family always agree', inFamilies(5, settled(noisy(12, 0)))],
  ['12 families of 5, each ±40 points by a coin', inFamilies(5, swapped(12, 0.4))],
  ['60 tasks, scores +0.1 nine times in ten, else -0.9', skewed(60)],
]

/** Families that nobody named, and tasks that are not alike. */
const HIDDEN: readonly (readonly [string, HiddenWorld])[] = [
  ['12 families of 5, plays of a family always agree', { families: 12, size: 5, isSettled: true, sway: 0 }],
  ['12 families of 5, each ±40 points by a coin', { families: 12, size: 5, isSettled: false, sway: 0.4 }],
  ['60 tasks, plays of a task always agree', { families: 60, size: 1, isSettled: true, sway: 0 }],
]
const CARES: readonly (readonly [string, Care])[] = [
  ['nothing', { learns: false, alike: 1 }],
  ['families learnt', { learns: true, alike: 1 }],
  ['tasks_alike: 5', { learns: false, alike: 5 }],
]
/** By then families are learnt where plays agree. */
const LATE = 20
/** Fewer decisions than for other gains: each comes after fifty that do nothing. */
const HIDDEN_RUNS_SHARE = 0.25

interface Gain {
  readonly name: string
  readonly world: SimulatedWorld
  /** Decisions before it. */
  readonly decided: number
  readonly pairsMax: number
}
const GAINS: readonly Gain[] = [
  { name: '+10 points, 60 tasks', world: noisy(60, 0.1), decided: 0, pairsMax: 1000 },
  { name: '+10 points, 60 tasks, seeds share none of the luck', world: seeded(60, 0.1, 0), decided: 0, pairsMax: 1000 },
  { name: '+10 points, 60 tasks, seeds share half of the luck', world: seeded(60, 0.1, 0.5), decided: 0, pairsMax: 1000 },
  { name: '+10 points, 60 tasks, seeds share 9 of 10 of the luck', world: seeded(60, 0.1, 0.9), decided: 0, pairsMax: 1000 },
  { name: '+20 points, 60 tasks', world: noisy(60, 0.2), decided: 0, pairsMax: 1000 },
  { name: '+20 points, 10 tasks', world: noisy(10, 0.2), decided: 0, pairsMax: 400 },
  { name: '+20 points, 20 tasks', world: noisy(20, 0.2), decided: 10, pairsMax: 400 },
  { name: '+30 points, 12 families of 5', world: inFamilies(5, noisy(12, 0.3)), decided: 0, pairsMax: 1000 },
  { name: '12 of 60 tasks fixed, plays agree', world: sparse(60, 12, false), decided: 50, pairsMax: 1000 },
  { name: '12 of 60 tasks fixed, the others noisy', world: sparse(60, 12, true), decided: 10, pairsMax: 1000 },
  { name: '12 of 60 tasks fixed, the others noisy', world: sparse(60, 12, true), decided: 50, pairsMax: 1000 },
  { name: 'seven of ten tasks +40, the others -20', world: mixed(60, 0.4), decided: 0, pairsMax: 1000 },
  { name: 'scores from 0 to 1, +10 points, 60 tasks', world: graded(60, 0.1), decided: 0, pairsMax: 1000 },
  { name: 'scores from 0 to 1, +20 points, 60 tasks', world: graded(60, 0.2), decided: 10, pairsMax: 1000 },
]

type Requests = Omit<SimulatedRequests, 'boundsSum'>
const REQUESTS: readonly (readonly [string, Requests])[] = [
  ['-3 points each, 4 tasks', { tasks: 4, chanceOf: passable, loss: 0.03 }],
  ['-3 points each, 12 tasks', { tasks: 12, chanceOf: passable, loss: 0.03 }],
  ['-6 points each, 12 tasks', { tasks: 12, chanceOf: passable, loss: 0.06 }],
  ['harmless, 4 tasks', { tasks: 4, chanceOf: usual, loss: 0 }],
  ['harmless, 12 tasks', { tasks: 12, chanceOf: usual, loss: 0 }],
]

if (options.help) process.stdout.write(`${HELP}\n`)
else await main(Number(options.scenarios), Number(options.runs))

async function main(scenarios: number, runs: number): Promise<void> {
  const noOps = NO_OPS.map(([name, world]) => ({ name, publishing: scenariosPublishing(world, scenarios) }))
  const tables = [
    noOpTable(noOps, scenarios),
    hiddenTable(scenarios),
    gainTable(runs),
    careTable(Math.ceil(runs * HIDDEN_RUNS_SHARE)),
    requestTable(scenarios),
  ]
  for (const table of tables) process.stdout.write(`${forTerminal(table)}\n\n`)
  if (options.write) await writeFile(PAGE, withTables(await readFile(PAGE, 'utf8'), tables, GATE_MARKS))
  const missed = noOps.filter(({ publishing }) => publishing > RATE_MAX * scenarios)
  for (const { name } of missed)
    process.stderr.write(`missed: more than 5 of 100 scenarios published a change that does nothing: ${name}\n`)
  if (missed.length > 0) process.exitCode = EXIT_MISSED
}

function noOpTable(noOps: readonly { readonly name: string; readonly publishing: number }[], scenarios: number): Table {
  return {
    title: 'Scenarios of 50 changes that do nothing, 600 episodes each at most (simulated outcomes)',
    head: ['tasks of the gate', 'scenarios', 'published at least one'],
    rows: noOps.map(({ name, publishing }) => [name, String(scenarios), String(publishing)]),
  }
}

/** By decision: no care can help the first one but the last. */
function hiddenTable(scenarios: number): Table {
  return {
    title: 'The same where no task names a family (simulated outcomes)',
    head: ['tasks of the gate', 'care', 'scenarios', 'published at least one', 'of these after 20 decisions', 'families seen at the end'],
    rows: HIDDEN.flatMap(([name, world]) =>
      CARES.map(([care, how]) => {
        const ends = Array.from({ length: scenarios }, (_, scenario) => playHidden(world, scenario, how))
        const published = ends.flatMap(({ publishedAt }) => publishedAt ?? [])
        const families = ends.filter(({ publishedAt }) => publishedAt === null).map((end) => end.families)
        const seen = families.length === 0 ? '' : (families.reduce((sum, one) => sum + one, 0) / families.length).toFixed(1)
        return [name, care, String(scenarios), String(published.length), String(published.filter((at) => at > LATE).length), seen]
      }),
    ),
  }
}
/** What the care costs where tasks are not alike. */
function careTable(runs: number): Table {
  return {
    title: `Gains after 50 changes that do nothing, 60 tasks that are not alike and name no family, ${runs} decisions each (simulated outcomes)`,
    head: ['change', 'care', 'found'],
    rows: [0.1, 0.2].flatMap((gain) =>
      CARES.map(([care, how]) => {
        const world = { families: 60, size: 1, isSettled: false, sway: 0 }
        const ends = Array.from({ length: runs }, (_, run) => playHidden(world, run, how, gain))
        return [`+${100 * gain} points`, care, (ends.filter(({ isFound }) => isFound === true).length / runs).toFixed(2)]
      }),
    ),
  }
}

function gainTable(runs: number): Table {
  return {
    title: `Gains, ${runs} decisions each (simulated outcomes)`,
    head: ['change', 'decision', 'episodes at most', 'found', 'episodes, mean'],
    rows: GAINS.map(({ name, world, decided, pairsMax }) => {
      const { power, episodes } = powerIn(world, runs, decided, pairsMax)
      return [name, String(decided + 1), String(2 * pairsMax), power.toFixed(2), episodes.toFixed(0)]
    }),
  }
}

function requestTable(lives: number): Table {
  return {
    title: `Twenty requests in a row, ${lives} lives each, margin 10 points (simulated outcomes)`,
    head: ['requests', 'compared with', 'published', 'points lost, mean', 'lives that lost more than 10', 'episodes a request, mean'],
    rows: REQUESTS.flatMap(([name, world]) =>
      [false, true].map((boundsSum) => {
        const { published, lost, beyond, episodes } = requestsIn({ ...world, boundsSum }, lives)
        const against = boundsSum ? 'the release before, and the baseline' : 'the release before'
        return [name, against, published.toFixed(2), (100 * lost).toFixed(1), (beyond * lives).toFixed(0), episodes.toFixed(0)]
      }),
    ),
  }
}
