/**
 * `svc improve` on three repositories with real histories and real test runners: tasks are mined, an improvement is found, proved and shown.
 * Interrupted at every stage it comes to the same end, and pays for nothing twice but what was under way. As root and as nobody.
 * It takes minutes: `npm run test:improve`. The tests of src/improve stop runs at every event in seconds, without agents.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startCommand, type Command, type CommandUser } from '../support/command.ts'
import { sharedFolder, temporaryFolder } from '../support/folder.ts'
import { IS_SHORT } from '../support/short.ts'
import { startUpstream } from '../support/upstream.ts'
import { until } from '../support/wait.ts'
import { NO_HELP, providerFor, type Asked } from './improve-provider.ts'
import { git, KINDS, makeRepository, RULES, type RepositoryKind } from './improve-repositories.ts'

/** Some four minutes of one core, and twice as long where each stage begins anew: busy machines take ten times as long. */
const WHOLE_MS = 60 * 60_000
const INTERRUPTED_MS = 120 * 60_000
const NOBODY: CommandUser = { uid: 65_534, gid: 65_534 }
const isRoot = process.getuid?.() === 0

type StopSignal = Parameters<Command['signal']>[0]

/** Where a run is interrupted: by what it said, or where that is said too late by what lies on the disk. */
interface Stage {
  readonly name: string
  readonly reached: (run: Command, data: string) => Promise<void>
}
type Stop = readonly [stage: Stage, signal: StopSignal]

const said = (name: string, words: string | RegExp): Stage => ({ name, reached: (run) => run.said(words) })
const STAGES: readonly Stage[] = [
  said('found', '"event":"found"'),
  { name: 'mining', reached: (_run, data) => until(() => globSync('svc/improve/*/mined/*/mined.yaml', { cwd: data }).length > 1) },
  said('mined', '"event":"mined"'),
  said('tasks', '"event":"tasks"'),
  said('baseline', '"event":"played","side":"before","kept":false'),
  said('asked', '"event":"estimate"'),
  said('round', '"event":"round"'),
  said('improving', /"event":"progress","round":\d,"episodes":(?:[5-9]|\d\d)/),
  said('step', '"event":"step"'),
  said('compared', '"event":"played","side":"after","kept":false'),
  said('result', '"event":"result"'),
  said('change', '"event":"change"'),
]
/** From here on it may end before the signal comes. */
const LAST_STAGES: ReadonlySet<string> = new Set(['result', 'change'])

/** Commits with a test, and how many of them become tasks: enough for every role, and for a first decision. */
const PARTS = 18
const TASKS = 16

/** Pairs of episodes that run at once. */
const WORKERS = 2
const UNDER_WAY_MAX = 2 * WORKERS

interface Place {
  readonly kind: RepositoryKind
  readonly template: string
  readonly tasks: number
}

/** A copy of the repository for one person, and a whole run of the command on it. */
async function improved({ kind, template, tasks }: Place, user: CommandUser, stops: readonly Stop[]) {
  const upstream = await startUpstream()
  onTestFinished(() => upstream.close())
  const { asked, script } = providerFor(kind, (path, content) => ({ tool: 'write', input: { path, content } }))
  upstream.answer(script)
  const home = temporaryFolder()
  const folder = join(home, `a "real" one's`)
  cpSync(template, folder, { recursive: true })
  mkdirSync(join(home, 'data'))
  if (user.uid !== undefined) execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, home])
  const before = stateOf(folder)
  const args = ['improve', folder, '--agent', 'native', '--tasks', String(tasks), '--model-url', upstream.url]
  const all = [...args, '--inference.upstream_model', 'scripted', '--evolution.executor', 'local', '--branch', 'better', '--yes', '--json']
  const data = join(home, 'data')
  const start = (): Command => {
    const run = startCommand(all, { HOME: home, XDG_DATA_HOME: data }, user)
    onTestFinished(() => run.signal('SIGKILL'))
    return run
  }
  for (const [stage, signal] of stops) {
    const run = start()
    await stage.reached(run, data)
    run.signal(signal)
    const { code, err } = await run.ended
    if (signal === 'SIGKILL' || LAST_STAGES.has(stage.name)) continue
    expect([stage.name, code, err]).toEqual([stage.name, 130, expect.stringContaining('the same command goes on from here')])
  }
  const { code, out, err } = await start().ended
  expect([code, err]).toEqual([0, stops.some(([{ name }]) => LAST_STAGES.has(name)) ? expect.stringContaining('has ended') : ''])
  expect(stateOf(folder)).toEqual(before)
  const events = out
    .trim()
    .split('\n')
    .map((line): Record<string, unknown> => JSON.parse(line))
  const result = Object(events.find(({ event }) => event === 'result'))
  // The folder is gone when another test compares with this one.
  const tree = result.improved === true ? git(folder, 'rev-parse', 'better^{tree}') : null
  return { folder, asked, result, tree, last: events.at(-1) }
}

/** What a run must leave as it was. */
const stateOf = (folder: string): readonly string[] => [
  git(folder, 'status', '--porcelain'),
  git(folder, 'symbolic-ref', 'HEAD'),
  readFileSync(join(folder, '.git/index')).toString('hex'),
  readFileSync(join(folder, 'AGENTS.md'), 'utf8'),
]

type Improved = Awaited<ReturnType<typeof improved>>

/** The change is the lesson and nothing else, and its message shows what every task scored. */
function expectShown({ folder, result, last }: Improved, { lesson }: RepositoryKind): void {
  expect(result).toMatchObject({ improved: true })
  expect(last).toMatchObject({ event: 'change', files: ['AGENTS.md'], branch: 'better' })
  expect(git(folder, 'show', 'better:AGENTS.md')).toBe(`${RULES}\n${lesson}\n`)
  expect(git(folder, 'diff', '--name-only', 'main', 'better').trim()).toBe('AGENTS.md')
  const message = git(folder, 'log', '-1', '--format=%B', 'better')
  for (const role of ['gate', 'train', 'sealed']) expect(message).toMatch(new RegExp(`^${role}: 0 before, 1 after`, 'm'))
  expect(message).toMatch(/^\S+ +gate +0 +1$/m)
  expect(message).not.toContain(NO_HELP)
}

const episodes = (asked: readonly Asked[]): number => asked.filter(({ what }) => what === 'episode').length
const proposals = (asked: readonly Asked[]): number => asked.length - episodes(asked)

/** Without what was measured in money and time. */
const endOf = ({ result, tree }: Improved): object => ({ tasks: result.tasks, tree })

const inTurns = (first: StopSignal, second: StopSignal): readonly Stop[] =>
  STAGES.map((stage, at) => [stage, at % 2 === 0 ? first : second])

describe.skipIf(IS_SHORT).each(Object.values(KINDS))('improve on $title', (kind) => {
  const template = join(sharedFolder(), 'repository')
  makeRepository(template, kind, PARTS)
  const place = { kind, template, tasks: TASKS }
  /** Played once, by the first test that needs it: each test may run alone. */
  let wholeRun: Promise<Improved> | null = null
  const wholeOnce = (): Promise<Improved> => (wholeRun ??= improved(place, {}, []))

  it('mines tasks, finds an improvement, proves it and shows it', { timeout: WHOLE_MS }, async () => {
    expectShown(await wholeOnce(), kind)
  })

  it.each<readonly [who: string, user: CommandUser, first: StopSignal, second: StopSignal]>([
    ['who runs it', {}, 'SIGKILL', 'SIGINT'],
    ...(isRoot ? ([['nobody', NOBODY, 'SIGINT', 'SIGKILL']] as const) : []),
  ])(
    'interrupted at every stage comes to the same end, as %s',
    { timeout: WHOLE_MS + INTERRUPTED_MS },
    async (_who, user, first, second) => {
      const whole = await wholeOnce()
      const end = await improved(place, user, inTurns(first, second))
      expectShown(end, kind)
      expect(endOf(end)).toEqual(endOf(whole))
      expect(episodes(end.asked) - episodes(whole.asked)).toBeLessThanOrEqual(STAGES.length * UNDER_WAY_MAX)
      expect(proposals(end.asked) - proposals(whole.asked)).toBeLessThanOrEqual(1)
    },
  )
})
