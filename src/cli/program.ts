/** The command line: all commands with their options, help and exit codes. */
import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { Command, CommanderError, InvalidArgumentError } from 'commander'
import { readCommandLine, type CommandLineReading } from '../config/index.ts'
import { PRODUCT } from '../contract/index.ts'
import { showHidden, withoutSecrets } from '../kit/index.ts'
import { configPrint, configSchema } from './config.ts'
import type { DocsOptions } from './docs.ts'
import { printError } from './explain.ts'
import { addHarnessCommands } from './harness.ts'
import { addImportCommands } from './import.ts'
import { addImproveCommand } from './program-improve.ts'
import { addKeyCommands } from './key.ts'
import { addRemoteCommands } from './program-remote.ts'
import { addOnDemandCommands } from './on-demand.ts'
import type { ForgetOptions } from './forget.ts'
import { serve } from './serve.ts'
import { EXIT, later, type Action, type BindCommand, type ConfigOptions, type Surroundings } from './surroundings.ts'
import { addTasksCommands } from './tasks.ts'
import { addTokenCommands } from './token.ts'
import { addTrainerCommands } from './trainer.ts'
import { addWorkCommands } from './program-work.ts'
import { addWorkerCommand } from './program-worker.ts'

const EXAMPLES = `
Examples:
  svc serve                                   start; no configuration needed
  svc init                                    write a configuration, after three questions
  svc improve .                               better rules and skills for the agent of a repository, proved on tasks
  svc serve -c svc.yaml --svc.port 9000       a file, and one key over it
  svc doctor -c svc.yaml                      what is misconfigured, and how to fix it
  svc verify -c svc.yaml                      check every stored record for damage
  svc forget -c svc.yaml --tag user=u7        count what is stored of a person; --yes removes it, with proof
  svc config schema > svc.schema.json         for your editor
  svc import reef --records DIR --artifacts DIR
                                              import the data of the system reef
  svc harness powers DIR                      what the harness tree in a folder could do on a machine
  svc key show                                the key that signs releases, and the install line with it
  svc runtime add llama                       install what the runtime llama needs
  svc tasks mine . -o ./tasks                 find tasks in the history of a repository
  svc trainer start --model tiny=./tiny       train adapters on this machine

  svc status                                  the state of the running service, and what needs you
  svc scenarios                               list the scenarios
  svc ask "Answer in one sentence."           ask for a change, and follow it to its result
  svc report RECEIPT --score 0                say how an exchange went
  svc show v6                                 show one release, step or record
  svc diff v5 v6                              compare the files of two releases
  svc replay RECEIPT --model other            ask a stored request of another model, and compare
  svc open                                    open the console in a browser
  svc docs                                    open these documents in a browser, without a network
  svc releases support                        list training steps and releases
  svc promote v6                              serve a release that was held for review
  svc reject v6 --reason "too long"           turn it down, with a reason to learn from
  svc rollback v5                             serve an earlier release again
  svc records support --type report           list stored records, newest first
  svc tail support                            follow records as they are stored
  svc token create laptop-7 --role agent --scenario support
                                              a token for one machine, for one scenario
  svc audit                                   who changed what
  source <(svc completion bash)               complete commands, options and scenarios

Every configuration key is an option: --section.key value, --section.key=value, --no-section.flag.
Commands that ask a running service find it at --url or SVC_URL, else where the configuration says; its token is in SVC_TOKEN or there.
Exit codes: 0 fine, 1 refused or failed (or damage found), 2 wrong usage, wrong configuration, or cannot start or reach the service.
NODE_DEBUG=svc adds stacks to errors.`

export async function runCli(args: readonly string[], given: Surroundings): Promise<number> {
  // Errors quote arguments, files and services.
  const surroundings = { ...given, err: (line: string) => given.err(showHidden(withoutSecrets(line))) }
  const commandLine = readCommandLine(args)
  const outcome = { exit: EXIT.misconfigured as number }
  try {
    await makeProgram(commandLine, surroundings, outcome).parseAsync([...commandLine.rest], { from: 'user' })
    return outcome.exit
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.misconfigured
    printError(error, null, surroundings)
    return EXIT.misconfigured
  }
}

function makeProgram(commandLine: CommandLineReading, surroundings: Surroundings, outcome: { exit: number }): Command {
  const program = new Command(PRODUCT)
    .description('Sits in front of a language model, records every exchange durably, and makes the agent better from its own traffic.')
    .version(version())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => surroundings.out(text.trimEnd()),
      writeErr: (text) => surroundings.out(text.trimEnd()),
      outputError: (text) =>
        surroundings.err(
          text
            .replace(/^error: /, '')
            .trim()
            .replaceAll('\n', ' '),
        ),
    })
    .showSuggestionAfterError()
    .addHelpText('after', EXAMPLES)
  const run: BindCommand = <T>(command: Command, action: Action<T>): Command =>
    command.action(async () => {
      outcome.exit = await action({ ...command.opts<T & object>(), ...argumentsOf(command), commandLine }, surroundings)
    })
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
  return program
}

function argumentsOf({ registeredArguments, processedArgs }: Command): Readonly<Record<string, unknown>> {
  const named = registeredArguments.map((argument, at): [string, unknown] => [argument.name(), processedArgs[at]])
  return Object.fromEntries(named.filter(([, value]) => value !== undefined))
}

/** Commands on this machine's configuration, service and records. */
function addOwnCommands(program: Command, run: BindCommand): void {
  run<ConfigOptions>(configured(program, 'serve', 'start the service', 'svc serve -c svc.yaml'), serve)
    .option('--print-config', 'print every value and where it came from, then exit')
    .option('--welcome', 'also run a demo scenario that improves on the built-in mock model')
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

function configured(parent: Command, name: string, description: string, line: string): Command {
  return parent
    .command(name)
    .description(description)
    .usage('[-c FILE] [--section.key value …]')
    .option('-c, --config <file>', 'the configuration file (YAML)')
    .option('--json', 'print JSON instead of a table')
    .addHelpText('after', example(line))
}

const collected = (value: string, before: readonly string[]): readonly string[] => [...before, value]

const example = (line: string): string => `\nExample:\n  ${line}`

function version(): string {
  const path = findPackageJSON(import.meta.url)
  const described: unknown = path === undefined ? {} : JSON.parse(readFileSync(path, 'utf8'))
  return typeof described === 'object' && described !== null && 'version' in described ? String(described.version) : 'unknown'
}
