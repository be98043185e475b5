/** The command line as a whole: its commands, their options, their help, and the exit code of each. */
import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { Command, CommanderError } from 'commander'
import { readCommandLine } from '../config/index.ts'
import type { CommandLineReading } from '../config/index.ts'
import { PRODUCT } from '../contract/index.ts'
import { configPrint, configSchema } from './config.ts'
import { doctor } from './doctor.ts'
import { complain } from './explain.ts'
import { serve } from './serve.ts'
import { EXIT } from './surroundings.ts'
import type { ConfigOptions, Surroundings } from './surroundings.ts'
import { verify } from './verify.ts'

const EXAMPLES = `
Examples:
  svc serve                                   start with what is found; no configuration needed
  svc serve -c svc.yaml --svc.port 9000       a file, and one key over it
  svc serve -c svc.yaml --print-config        what would be in force, and where each value came from
  svc doctor -c svc.yaml                      what is misconfigured, and how to fix it
  svc verify -c svc.yaml                      whether every stored record is still what was stored
  svc config schema > svc.schema.json         for your editor

Every configuration key is an option: --section.key value, --section.key=value, --no-section.flag.
Exit codes: 0 fine, 1 failed at work (or damage found), 2 misconfigured or not able to start.
NODE_DEBUG=svc adds stacks to errors.`

type Action = (options: ConfigOptions, surroundings: Surroundings) => number | Promise<number>

/** Runs one command and answers its exit code. */
export async function runCli(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const commandLine = readCommandLine(args)
  const outcome = { exit: EXIT.misconfigured as number }
  try {
    await makeProgram(commandLine, surroundings, outcome).parseAsync([...commandLine.rest], { from: 'user' })
    return outcome.exit
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.misconfigured
    complain(error, null, surroundings)
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
  const run = (command: Command, action: Action): Command =>
    command.action(async (options: Omit<ConfigOptions, 'commandLine'>) => {
      outcome.exit = await action({ ...options, commandLine }, surroundings)
    })
  run(configured(program, 'serve', 'start the service'), serve).option(
    '--print-config',
    'print every value and where it came from, then exit',
  )
  run(configured(program, 'doctor', 'name each misconfiguration and its fix'), doctor)
  run(configured(program, 'verify', 'check every stored record for damage'), verify)
  const config = program.command('config').description('show the configuration')
  run(configured(config, 'print', 'print every value and where it came from'), configPrint)
  run(config.command('schema').description('print the JSON schema of the configuration'), configSchema)
  return program
}

function configured(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .usage('[-c FILE] [--section.key value …]')
    .option('-c, --config <file>', 'the configuration file (YAML)')
    .option('--json', 'print JSON instead of a table')
}

function version(): string {
  const path = findPackageJSON(import.meta.url)
  const described: unknown = path === undefined ? {} : JSON.parse(readFileSync(path, 'utf8'))
  return typeof described === 'object' && described !== null && 'version' in described ? String(described.version) : 'unknown'
}
