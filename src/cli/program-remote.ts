/** Commands that ask a running service: what each takes, and an example of it. */
import { Argument, InvalidArgumentError, Option, type Command } from 'commander'
import { completion, SHELLS, type CompletionOptions } from './completion/completion.ts'
import { later, type BindCommand } from './surroundings.ts'
import type { AuditOptions } from './remote/audit.ts'
import type { ExportOptions } from './export/command.ts'
import type { RemoteOptions } from './remote/address.ts'
import type { CommentOptions } from './remote/comment.ts'
import type { RecordsOptions } from './remote/records.ts'
import type { ReleasesOptions } from './remote/releases.ts'
import type { SearchOptions } from './remote/search.ts'
import type { SettingsOptions } from './remote/settings.ts'
import { tail } from './remote/tail.ts'

export const SCENARIO = 'the scenario; may be left out where there is one alone'
export const RELEASE = 'its number (v5, step 5), its id, or the first 4 characters of it and more'
const HELD = `${RELEASE}; may be left out where one alone is held`
const COMMENT = 'why, in your words; kept with the release'
const RECORDS_SHOWN = 20
export const INTERVAL_SECONDS = 1

export function addRemoteCommands(program: Command, run: BindCommand): void {
  run<RemoteOptions>(
    remote(program, 'status', 'show the state of the service, and what needs you', 'svc status --scenario support'),
    later(async () => (await import('./remote/status.ts')).status),
  ).option('--scenario <name>', 'only this scenario')
  run<ReleasesOptions>(
    remote(program, 'releases', 'list training steps and releases', 'svc releases support'),
    later(async () => (await import('./remote/releases.ts')).releases),
  )
    .argument('[scenario]', SCENARIO)
    .option('--pareto', 'what was tried, by score, cost and time')
  run(
    remote(program, 'promote', 'serve a release that is held for review', 'svc promote v6 --scenario support'),
    later(async () => (await import('./remote/move.ts')).promote),
  )
    .alias('approve')
    .argument('[release...]', HELD)
    .option('--scenario <name>', 'the scenario; optional when only one holds a release')
    .option('--comment <text>', COMMENT)
  run(
    remote(program, 'reject', 'turn down a release that is held for review', 'svc reject v6 --reason "too long" --scenario support'),
    later(async () => (await import('./remote/move.ts')).reject),
  )
    .argument('[release...]', HELD)
    .option('--reason <text>', 'why; shown with the release, and told to the next proposer')
    .option('--scenario <name>', 'the scenario; optional when only one holds a release')
  run<CommentOptions>(
    remote(program, 'comment', 'say something of a held release, and decide nothing', 'svc comment v6 "tried it, fine" --scenario support'),
    later(async () => (await import('./remote/comment.ts')).comment),
  )
    .argument('<release>', RELEASE)
    .argument('<text...>', 'what you say; kept with the release')
    .option('--scenario <name>', SCENARIO)
  run(
    remote(program, 'rollback', 'serve an earlier release again', 'svc rollback v5 --scenario support'),
    later(async () => (await import('./remote/move.ts')).rollback),
  )
    .argument('<release...>', RELEASE)
    .option('--scenario <name>', SCENARIO)
    .option('--comment <text>', COMMENT)
    .option('--yes', 'do not ask')
  run(
    remote(program, 'withdraw', 'end the provisional release, which is unproven', 'svc withdraw v7 --scenario support'),
    later(async () => (await import('./remote/move.ts')).withdraw),
  )
    .argument('<release...>', RELEASE)
    .option('--scenario <name>', SCENARIO)
    .option('--comment <text>', COMMENT)
  run<SettingsOptions>(
    remote(
      program,
      'settings',
      'show how a scenario trains, or change its mode, its budgets and its rollout',
      'svc settings max_cost_per_day=5 provisional=canary canary_share=0.1 --scenario support',
    ),
    later(async () => (await import('./remote/settings.ts')).settings),
  )
    .argument('[changes...]', 'name=value each; name= is as configured again')
    .option('--scenario <name>', SCENARIO)
  addRecords(program, run)
  addExport(program, run)
  addSearch(program, run)
  run(remote(program, 'tail', 'follow records as they are stored', 'svc tail support --json'), tail)
    .argument('[scenario]', SCENARIO)
    .option('--interval <seconds>', 'the polling interval', secondsOf, INTERVAL_SECONDS)
  addAudit(program, run)
  addWebhooks(program, run)
  addCompletion(program, run)
}

function addRecords(program: Command, run: BindCommand): void {
  run<RecordsOptions>(
    remote(program, 'records', 'list stored records, newest first', 'svc records support --type report -n 50'),
    later(async () => (await import('./remote/records.ts')).records),
  )
    .argument('[scenario]', SCENARIO)
    .addOption(new Option('--type <type>', 'only records of this kind').choices(['inference', 'report', 'train']))
    .option('-n, --number <count>', 'how many', countOf, RECORDS_SHOWN)
    .option('--id <id>', 'show this record in full; its number works too')
    .addOption(new Option('--export <file>', 'write every record as a line of JSON; continues where it stopped').conflicts(['type', 'id']))
}

function addExport(program: Command, run: BindCommand): void {
  run<ExportOptions>(
    remote(
      program,
      'export',
      'write records to files in a bucket or a folder; the next run goes on behind the last record',
      'svc export --to s3://bucket/records --format parquet --since 7d',
    ),
    later(async () => (await import('./export/command.ts')).exportAll),
  )
    .requiredOption('--to <place>', 'a folder, or a bucket and a folder in it (s3://bucket/folder); its key as in storage.s3')
    .addOption(new Option('--format <format>', 'what the files are').choices(['jsonl', 'parquet']).default('jsonl'))
    .option('--scenario <name>', 'only this scenario')
    .option('--since <time>', 'the first run begins with what was stored since: 12h, 7d, or a date such as 2026-11-17T08:00Z', momentOf)
}

function addWebhooks(program: Command, run: BindCommand): void {
  const webhooks = program.command('webhooks').description('what the targets of webhooks refused')
  run<RemoteOptions>(
    remote(webhooks, 'retry', 'send again now what was refused again and again', 'svc webhooks retry'),
    later(async () => (await import('./remote/webhooks.ts')).retry),
  )
}

function addAudit(program: Command, run: BindCommand): void {
  run<AuditOptions>(
    remote(program, 'audit', 'show who changed what, newest first; with --json all of it, a line each', 'svc audit --json > audit.jsonl'),
    later(async () => (await import('./remote/audit.ts')).audit),
  )
    .option('--scenario <name>', 'only this scenario')
    .option('-n, --number <count>', 'how many', countOf, RECORDS_SHOWN)
    .option('--after <sequence>', 'only what came after this number', countOf)
}

function addSearch(program: Command, run: BindCommand): void {
  run<SearchOptions>(
    remote(
      program,
      'search',
      'find stored records, newest first',
      `svc search 'refund "not found"' --scenario support --max-score 0.2 --since 7d`,
    ),
    later(async () => (await import('./remote/search.ts')).search),
  )
    .argument(
      '[words...]',
      'words that must occur; in quotes of its own: "several words" in this order, begin* for a beginning, -without for none of it',
    )
    .option('--scenario <name>', SCENARIO)
    .addOption(new Option('--type <type>', 'only records of this kind').choices(['inference', 'report', 'train']))
    .option('--model <name>', 'only answers of this model')
    .option('--release <release>', `only what this release served: ${RELEASE}`)
    .option('--tag <name:value>', 'only records with this tag; may be repeated', (tag: string, before: readonly string[] | undefined) => [
      ...(before ?? []),
      tag,
    ])
    .addOption(new Option('--status <status>', 'only exchanges whose answer is whole, or is not').choices(['complete', 'broken-off']))
    .option('--min-score <score>', 'the least score', numberOf)
    .option('--max-score <score>', 'the highest score', numberOf)
    .option('--since <time>', 'only what was stored since: 90m, 12h, 7d, or a date such as 2026-11-17T08:00Z', momentOf)
    .option('--until <time>', 'only what was stored until then', momentOf)
    .option('-n, --number <count>', 'how many', countOf, RECORDS_SHOWN)
}

function addCompletion(program: Command, run: BindCommand): void {
  const command = program.command('completion').description('print a completion script for your shell')
  run<CompletionOptions>(command, (options, surroundings) => completion(program, options, surroundings))
    .addArgument(new Argument('[shell]', 'your shell').choices(SHELLS))
    .addOption(new Option('--names', 'the names of the scenarios').hideHelp())
    .addOption(new Option('-c, --config <file>').hideHelp())
    .addHelpText('after', '\nExample:\n  source <(svc completion bash)')
}

/** A command that finds the service like all of these. */
export function remote(program: Command, name: string, description: string, line: string): Command {
  return program
    .command(name)
    .description(description)
    .option('--url <url>', 'the address of the service (SVC_URL; else as configured)')
    .option('-c, --config <file>', 'the configuration file it was started with')
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExample:\n  ${line}`)
}

function countOf(text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1.')
  return Number(text)
}

export function secondsOf(text: string): number {
  const seconds = Number(text)
  if (!(seconds >= 0.01 && seconds <= 3600)) throw new InvalidArgumentError('It must be a number of seconds from 0.01 to 3600.')
  return seconds
}

function numberOf(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.')
  return value
}

const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Seconds since the epoch. */
function momentOf(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const moment = unit === '' ? Date.parse(text) / 1000 : Date.now() / 1000 - Number(count) * (SECONDS_OF[unit] ?? 0)
  if (!Number.isFinite(moment)) throw new InvalidArgumentError('It must be a time ago, such as 12h or 7d, or a date.')
  return moment
}
