/** The command line: all commands with their options, help and exit codes. */
import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { Command, CommanderError } from 'commander'
import { readCommandLine, type CommandLineReading } from '../config/index.ts'
import { PRODUCT } from '../contract/index.ts'
import { showHidden, withoutSecrets } from '../kit/index.ts'
import { configured } from './configured.ts'
import { printError } from './explain.ts'
import { serve } from './serve.ts'
import { EXIT, type Action, type BindCommand, type ConfigOptions, type Surroundings } from './surroundings.ts'

const SERVE = 'serve'
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
    const program = await makeProgram(commandLine, surroundings, outcome)
    await program.parseAsync([...commandLine.rest], { from: 'user' })
    return outcome.exit
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.misconfigured
    printError(error, null, surroundings)
    return EXIT.misconfigured
  }
}

async function makeProgram(commandLine: CommandLineReading, surroundings: Surroundings, outcome: { exit: number }): Promise<Command> {
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
  addServeCommand(program, run)
  if (commandLine.rest[0] !== SERVE) (await import('./program-others.ts')).addOtherCommands(program, run)
  return program
}

function argumentsOf({ registeredArguments, processedArgs }: Command): Readonly<Record<string, unknown>> {
  const named = registeredArguments.map((argument, at): [string, unknown] => [argument.name(), processedArgs[at]])
  return Object.fromEntries(named.filter(([, value]) => value !== undefined))
}

function addServeCommand(program: Command, run: BindCommand): void {
  run<ConfigOptions>(configured(program, SERVE, 'start the service', 'svc serve -c svc.yaml'), serve)
    .option('--print-config', 'print every value and where it came from, then exit')
    .option('--welcome', 'also run a demo scenario that improves on the built-in mock model')
}

function version(): string {
  const path = findPackageJSON(import.meta.url)
  const described: unknown = path === undefined ? {} : JSON.parse(readFileSync(path, 'utf8'))
  return typeof described === 'object' && described !== null && 'version' in described ? String(described.version) : 'unknown'
}
