/** What `svc improve` takes, and examples of it. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import { TASKS_MINED } from './improve/asked.ts'
import { later, type BindCommand } from './surroundings.ts'
import type { ImproveOptions } from './improve.ts'

const BUDGET_EPISODES = 300

const HELP = `
Example:
  svc improve .                               the agent of this repository, measured by tasks from its history
  svc improve . --tasks-dir tasks --branch better-rules --yes
  svc improve --practice --yes                a demonstration on the built-in mock model, in about a minute

A run that was stopped goes on with the same command. Every configuration key is an option too, such as --inference.upstream_model NAME.
Exit codes: 0 ended, or waits for a yes; 1 failed; 2 wrong usage or configuration; 130 stopped.`

export function addImproveCommand(program: Command, run: BindCommand): void {
  run<ImproveOptions>(
    program
      .command('improve')
      .description("find better rules and skills for a repository's agent, proved on tasks")
      .addHelpText('after', HELP),
    later(async () => (await import('./improve.ts')).improve),
  )
    .argument('[dir]', 'the repository (default: the working directory)')
    .option('--agent <name>', 'claude, codex, opencode, pi or native, instead of the one that is found')
    .option('--tasks-dir <dir>', "a folder with one folder per task, instead of tasks from the repository's history")
    .addOption(new Option('--tasks <count>', `how many tasks are mined (default: ${TASKS_MINED})`).argParser(countOf))
    .addOption(new Option('--budget <episodes>', 'how many episodes the whole run may play').argParser(countOf).default(BUDGET_EPISODES))
    .addOption(
      new Option('--scenario <name>', 'mine the recorded sessions of this scenario of a running service too').conflicts('tasksDir'),
    )
    .option('--url <url>', 'the address of that service (SVC_URL)')
    .option('--model-url <url>', 'the base address of the model, instead of the one that is found')
    .addOption(new Option('--branch <name>', 'make the change a commit on a new branch').conflicts('patch'))
    .option('--patch <file>', 'write the change to this file')
    .option('--serve', 'serve the improved scenario afterwards, until it is stopped')
    // It brings its own tasks.
    .addOption(new Option('--practice', 'a demonstration on the built-in mock model').conflicts(['tasks', 'scenario']))
    .option('--yes', 'do not ask before the cost')
    .option('--fresh', 'forget an earlier run of this repository')
    .option('--json', 'print one JSON object per event')
}

function countOf(text: string): number {
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 1 && Number.isSafeInteger(count)) return count
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}, in digits.`)
}
