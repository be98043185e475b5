/** The command line of the benchmark. */

import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'

const CONTESTANTS = [
  'direct',
  'nginx',
  'node-relay',
  'portkey',
  'portkey-our-node',
  'litellm',
  'reef',
  'svc-memory',
  'svc-durable',
  'svc-2-listeners',
  'svc-before',
] as const
export type ContestantName = (typeof CONTESTANTS)[number]

const PARTS = [
  'json',
  'shapes',
  'sse',
  'streams',
  'import',
  'listeners',
  'promote',
  'training',
  'limits',
  'start',
  'sessions',
  'boot',
] as const
export type PartName = (typeof PARTS)[number]

/** The short run has no other contestants, no store in memory and no large bodies. */
const QUICK: Pick<Options, 'contestants' | 'parts'> = {
  contestants: ['svc-durable', 'svc-2-listeners'],
  parts: ['json', 'sse', 'streams', 'import', 'promote', 'training', 'boot'],
}

export const FORMATS = ['chat', 'responses', 'messages'] as const
export type FormatName = (typeof FORMATS)[number]

export interface Options {
  readonly rounds: number
  readonly seconds: number
  readonly quick: boolean
  readonly json: boolean
  /** Writes the tables into the page about performance. */
  readonly page: boolean
  readonly force: boolean
  readonly install: boolean
  readonly format: FormatName
  readonly contestants: readonly ContestantName[]
  readonly parts: readonly PartName[]
  readonly directory: string
  /** Another built checkout of the service, measured as `svc-before`. */
  readonly before: string | undefined
}

export const HELP = `npm run bench -- [options]

Compares the service with one listener (svc-durable) and with two (svc-2-listeners) with the bare upstream,
nginx, a relay of the same two HTTP libraries that does nothing else (node-relay), the Portkey gateway (on the
Node that its vendor's image ships, and once more on ours), LiteLLM's proxy and the original system (reef),
interleaved in rounds, and checks after every durable round that each acknowledged receipt survives kill -9.
Build first: npm run build.

  --rounds N       rounds of every comparison (5)
  --seconds S      length of one measured window (5)
  --quick          the short form for CI: correctness only, never fails on speed
  --only a,b       contestants (${CONTESTANTS.join(', ')})
                   and parts (${PARTS.join(', ')}) to keep
  --format F       ${FORMATS.join(', ')} (chat)
  --dir DIR        where data directories are made; measure the disk you will use (the system's temporary directory)
  --before DIR     also measure the built service of another checkout, as svc-before; CPU per request must not have grown
  --install        install nginx and git-lfs when they are missing (apt-get, needs root)
  --force          run although the machine is busy
  --json           print the results as JSON instead of tables
  --page           write the tables into docs/performance.md, between its marks
  --help

Exit status: 0 every target met, 1 a target missed (with --quick: something was incorrect), 2 the benchmark could not run.`

/** Undefined when only help was requested. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      format: { type: 'string', default: 'chat' },
      dir: { type: 'string', default: tmpdir() },
      before: { type: 'string' },
      install: { type: 'boolean', default: false },
      force: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      page: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const { quick, install, force, json, page } = values
  return {
    quick,
    install,
    force,
    json,
    page,
    rounds: positive('rounds', values.rounds, quick ? 1 : 5),
    seconds: positive('seconds', values.seconds, quick ? 1 : 5),
    format: oneOf('format', FORMATS, values.format),
    directory: values.dir,
    before: values.before,
    ...selection(values.only, quick, values.before !== undefined),
  }
}

/** `--only` lists contestants and parts; naming none of a kind keeps all of it. */
function selection(only: string, quick: boolean, hasBefore: boolean): Pick<Options, 'contestants' | 'parts'> {
  const names = only.split(',').filter((name) => name !== '')
  for (const name of names) oneOf('only', [...CONTESTANTS, ...PARTS], name)
  const all = quick ? QUICK : { contestants: CONTESTANTS, parts: PARTS }
  const contestants = CONTESTANTS.filter((name) => names.includes(name))
  const parts = PARTS.filter((name) => names.includes(name))
  return {
    contestants: CONTESTANTS.filter((name) =>
      name === 'svc-before' ? hasBefore : (contestants.length > 0 ? contestants : all.contestants).includes(name),
    ),
    parts: parts.length > 0 ? parts : all.parts,
  }
}

function positive(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  const value = Number(text)
  if (!(value > 0 && Number.isFinite(value))) throw new Error(`--${name} takes a number above 0`)
  return value
}

function oneOf<Name extends string>(option: string, names: readonly Name[], given: string): Name {
  const found = names.find((name) => name === given)
  if (found === undefined) throw new Error(`--${option} does not know "${given}"; it knows ${names.join(', ')}`)
  return found
}
