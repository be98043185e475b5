/** All commands but `svc serve`, which starts sooner without them. */
import { InvalidArgumentError, type Command } from 'commander'
import { configPrint, configSchema } from './config.ts'
import { configured, example } from './configured.ts'
import type { DocsOptions } from './docs.ts'
import type { ForgetOptions } from './forget.ts'
import { addHarnessCommands } from './harness.ts'
import { addImportCommands } from './import.ts'
import { addKeyCommands } from './key.ts'
import { addOnDemandCommands } from './on-demand.ts'
import { addImproveCommand } from './program-improve.ts'
import { addRemoteCommands } from './program-remote.ts'
import { addWorkCommands } from './program-work.ts'
import { addWorkerCommand } from './program-worker.ts'
import { later, type BindCommand, type ConfigOptions } from './surroundings.ts'
import { addTasksCommands } from './tasks.ts'
import { addTokenCommands } from './token.ts'
import { addTrainerCommands } from './trainer.ts'

export function addOtherCommands(program: Command, run: BindCommand): void {
  addOwnCommands(program, run)
  addImproveCommand(program, run)
  addHarnessCommands(program, run)
  addImportCommands(program, run)
  addKeyCommands(program, run)
  addOnDemandCommands(program, run)
  addTasksCommands(program, run)
  addTrainerCommands(program, run)
  addRemoteCommands(program, run)
  addWorkCommands(program, run)
  addTokenCommands(program, run)
  addWorkerCommand(program, run)
}

/** Commands on this machine's configuration, service and records. */
function addOwnCommands(program: Command, run: BindCommand): void {
  run(
    program
      .command('init')
      .description('write a configuration, after three questions')
      .addHelpText('after', example('svc init -o svc.yaml')),
    later(async () => (await import('./init.ts')).init),
  )
    .option('-o, --output <file>', 'the file to write (default: svc.yaml)')
    .option('--model <answer>', 'which model answers, instead of the first question')
    .option('--adapter <answer>', 'the agent that improves, instead of the second')
    .option('--tasks <path>', 'the tasks that changes are measured by, instead of the third')
    .option('--yes', 'use the defaults for everything not given')
    .option('--force', 'overwrite an existing file')
  run<ConfigOptions>(
    configured(program, 'doctor', 'name each misconfiguration and its fix', 'svc doctor -c svc.yaml'),
    later(async () => (await import('./doctor.ts')).doctor),
  )
  run<ConfigOptions>(
    configured(program, 'verify', 'check every stored record for damage', 'svc verify -c svc.yaml'),
    later(async () => (await import('./verify.ts')).verify),
  )
  run<DocsOptions>(
    program
      .command('docs')
      .description('open the documents of this version in a browser; needs no network')
      .addHelpText('after', example('svc docs extend/recipe')),
    later(async () => (await import('./docs.ts')).docs),
  )
    .argument('[page]', 'such as quickstart, configuration, guides/improve or extend/recipe')
    .option('--port <number>', 'the port to serve them at (default: 8980, or a free one)', portOf)
    .option('--no-open', 'only print the address')
    .option('--json', 'print the address and the folder of the documents as JSON, and open nothing')
  run<ForgetOptions>(
    configured(program, 'forget', "remove a person's records by their tag, and prove it", 'svc forget -c svc.yaml --tag user=u7 --yes'),
    later(async () => (await import('./forget.ts')).forget),
  )
    .requiredOption('--tag <name=value>', 'the tag of the records, such as user=u7')
    .option('--backup <folder>', 'also in a copy of the records; may be repeated', collected, [])
    .option(
      '--export <place>',
      'name the files of an export that hold some of it, in a folder or s3://bucket; may be repeated',
      collected,
      [],
    )
    .option('--url <address>', 'ask the service at this address, with the token of the configuration or SVC_TOKEN')
    .option('--yes', 'remove them; without it they are only counted')
    .option('--dry-run', 'only count, also with --yes')
  const config = program.command('config').description('show the configuration')
  config.addHelpText('after', example('svc config print -c svc.yaml'))
  run<ConfigOptions>(configured(config, 'print', 'print every value and where it came from', 'svc config print -c svc.yaml'), configPrint)
  const schema = config.command('schema').description('print the JSON schema of the configuration')
  run<ConfigOptions>(schema.addHelpText('after', example('svc config schema > svc.schema.json')), configSchema)
}

function portOf(text: string): number {
  const port = Number(text)
  if (text.trim() === '' || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidArgumentError('It must be a number from 0 to 65535; 0 takes any free port.')
  return port
}

const collected = (value: string, before: readonly string[]): readonly string[] => [...before, value]
