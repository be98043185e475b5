/** `svc tasks`: commands on folders of tasks; those on records ask the running service. */
import { Option, type Command } from 'commander'
import { later, type BindCommand } from './surroundings.ts'
import { TASK_ROLES } from '../contract/index.ts'
import type { AddOptions } from './tasks/add.ts'
import type { CheckOptions } from './tasks/check.ts'
import type { DecideOptions } from './tasks/decide.ts'
import type { LookOptions } from './tasks/look.ts'
import type { MineOptions } from './tasks/mine.ts'

const EXAMPLES = `
Examples:
  svc tasks mine . -o ./tasks                 find tasks in the history of this repository
  svc tasks mine --scenario support           find tasks in the recorded sessions of a running service
  svc tasks add 01a1dd53… --rubric "Names the city."   make a recorded exchange a task of the running service
  svc tasks list ./tasks                      what was found, and what is used
  svc tasks show ./tasks/round-half-up-1a2b   one of them: prompt, verifier, reference
  svc tasks check ./tasks/*                   try each one ten times
  svc tasks accept ./tasks/*                  use them; evolution.tasks_dir reads accepted ones
  svc tasks drop ./tasks/round-half-up-1a2b   never use it, and never mine it again

Exit codes: 0 fine, 1 a check failed or nothing was found, 2 a folder is no task, or no test can be run.`

/** How many of the newest records of a scenario are read. */
export const RECORDS_MAX = 20_000

const exampleOf = (line: string): string => `\nExample:\n  ${line}`

const executor = (): Option =>
  new Option('--executor <name>', 'what runs tests: local is not isolated').choices(['sandbox', 'local']).default('sandbox')

export function addTasksCommands(program: Command, run: BindCommand): void {
  const tasks = program.command('tasks').description('mine tasks, try them, and decide which are used')
  tasks.addHelpText('after', EXAMPLES)
  const add = (name: string, about: string, line: string): Command =>
    tasks.command(name).description(about).option('--json', 'print JSON instead of a table').addHelpText('after', exampleOf(line))
  run<MineOptions>(
    add(
      'mine',
      'find tasks in the history of a repository or in recorded sessions, and keep those that hold',
      'svc tasks mine . -o ./tasks',
    ),
    later(async () => (await import('./tasks/mine.ts')).mine),
  )
    .argument('[folder]', 'the repository (default: this folder), or a file of svc records --export')
    .option('-o, --output <folder>', 'the folder of the tasks (default: ./tasks)')
    .option('-n, --number <count>', 'how many mined tasks there should be', '40')
    .option('--seconds <count>', 'the longest time that the tests of a task may take', '60')
    .option('--miner <name>', 'the plug-in that finds them (default: git; with --scenario sessions)')
    .option('--scenario <name>', 'mine the sessions of this scenario of the running service')
    .option('--records <count>', 'how many of its newest records are read', String(RECORDS_MAX))
    .option('--url <url>', 'the address of the service (SVC_URL; else as configured)')
    .option('-c, --config <file>', 'the configuration file it was started with')
    .option('--seed <text>', 'decides which role a task gets', 'svc')
    .addOption(executor())
  run<AddOptions>(
    add('add', 'make a recorded exchange a task of its scenario', 'svc tasks add 01a1dd53… --rubric "Names the city."'),
    later(async () => (await import('./tasks/add.ts')).add),
  )
    .argument('<record>', 'the receipt of the exchange')
    .option('--rubric <text>', 'what a good answer does; a model grades by it')
    .option('--answer <text>', 'the right answer, as the last line; instead of a rubric')
    .option('--prompt <text>', 'what the agent is asked (default: what the user said last)')
    .addOption(new Option('--role <role>', 'who plays it (default: gate)').choices(TASK_ROLES))
    .option('--scenario <name>', 'the scenario; may be left out where there is one alone')
    .option('--url <url>', 'the address of the service (SVC_URL; else as configured)')
    .option('-c, --config <file>', 'the configuration file it was started with')
  run<LookOptions>(
    add('list', 'list the tasks in a folder, with role, family, status and what the check found', 'svc tasks list ./tasks'),
    later(async () => (await import('./tasks/look.ts')).list),
  ).argument('[folder]', 'the folder of the tasks (default: ./tasks)')
  run<LookOptions>(
    add('show', 'show one task: prompt, verifier, reference, where it comes from', 'svc tasks show ./tasks/round-half-up-1a2b'),
    later(async () => (await import('./tasks/look.ts')).show),
  ).argument('<folder>', 'the folder of the task')
  run<CheckOptions>(
    add('check', 'nothing done must fail, the reference must pass, repeats must agree', 'svc tasks check ./tasks/*'),
    later(async () => (await import('./tasks/check.ts')).check),
  )
    .argument('<folder...>', 'folders of tasks')
    .option('--repeats <count>', 'how often each is tried', '10')
    .option('--seconds <count>', 'the longest time that one run may take', '60')
    .addOption(executor())
  for (const [name, about] of [
    ['accept', 'use these tasks'],
    ['drop', 'do not use these tasks, and do not mine them again'],
  ] as const)
    run<DecideOptions>(
      add(name, about, `svc tasks ${name} ./tasks/*`),
      later(async () => (await import('./tasks/decide.ts'))[name]),
    ).argument('<folder...>', 'folders of tasks')
}
