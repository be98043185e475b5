/** Commands with which a person works on a running service: ask, report, look, compare, open, play again. */
import { InvalidArgumentError, type Command } from 'commander'
import { INTERVAL_SECONDS, RELEASE, remote, SCENARIO, secondsOf } from './program-remote.ts'
import { later, type BindCommand } from './surroundings.ts'
import type { AskOptions } from './remote/ask.ts'
import type { DiffOptions } from './remote/diff.ts'
import type { OpenOptions } from './remote/open.ts'
import type { ReplayOptions } from './remote/replay.ts'
import type { ReportOptions } from './remote/report.ts'
import type { ShowOptions } from './remote/show.ts'

export function addWorkCommands(program: Command, run: BindCommand): void {
  run(
    remote(program, 'scenarios', 'list the scenarios', 'svc scenarios --json'),
    later(async () => (await import('./remote/scenarios.ts')).scenarios),
  )
  run<AskOptions>(
    remote(
      program,
      'ask',
      'ask for a change in plain words, and follow it to its result',
      'svc ask "Answer in one sentence." --scenario support',
    ),
    later(async () => (await import('./remote/ask.ts')).ask),
  )
    .argument('[text...]', 'what should be different')
    .option('--again <release>', 'another try of a release that was rejected, with the reason')
    .option('--scenario <name>', SCENARIO)
    .option('--no-wait', 'end once the request is stored')
    .option('--interval <seconds>', 'the polling interval', secondsOf, INTERVAL_SECONDS)
  run<ReportOptions>(
    remote(program, 'report', 'say how an exchange went', 'svc report 01a1dd53… --score 0 --text "The sum is wrong."'),
    later(async () => (await import('./remote/report.ts')).report),
  )
    .argument('<receipt...>', 'the receipts of the exchanges')
    .option('--score <number>', 'how good it was, such as 0 or 1', scoreOf)
    .option('--text <text>', 'what was good or bad, in your words')
    .option('--scenario <name>', SCENARIO)
  addLooking(program, run)
}

function addLooking(program: Command, run: BindCommand): void {
  run<ShowOptions>(
    remote(program, 'show', 'show one release, step or record', 'svc show v6 --scenario support'),
    later(async () => (await import('./remote/show.ts')).show),
  )
    .argument('<what...>', `a release (${RELEASE}), a step, or the id of a record`)
    .option('--scenario <name>', SCENARIO)
  run<DiffOptions>(
    remote(program, 'diff', 'compare the files of two releases', 'svc diff v5 v6 --scenario support'),
    later(async () => (await import('./remote/diff.ts')).diff),
  )
    .argument('[release]', `${RELEASE}; alone: compared with its parent; none: what waits, or what is served`)
    .argument('[other]', 'the release to compare with: what is in it and not in the first is new')
    .option('--scenario <name>', SCENARIO)
  run<OpenOptions>(
    remote(program, 'open', 'open the console, or a page of it, in a browser', 'svc open v6 --scenario support'),
    later(async () => (await import('./remote/open.ts')).open),
  )
    .argument('[what]', 'a scenario, a release, a record, or traffic, releases, ask, training, tasks, storage')
    .option('--scenario <name>', SCENARIO)
  run<ReplayOptions>(
    remote(
      program,
      'replay',
      'ask a stored request once more, and show both answers; stores nothing',
      'svc replay 01a1dd53… --model other-model',
    ),
    later(async () => (await import('./remote/replay.ts')).replay),
  )
    .argument('<record>', 'the receipt of an exchange')
    .option('--model <name>', 'the model to ask instead')
    .option('--release <release>', `with the texts of this release in place of its own: ${RELEASE}`)
    .option('--scenario <name>', SCENARIO)
}

function scoreOf(text: string): number {
  const score = Number(text)
  if (text.trim() === '' || !Number.isFinite(score)) throw new InvalidArgumentError('It must be a number.')
  return score
}
