/** A command that reads the configuration. */
import type { Command } from 'commander'

export function configured(parent: Command, name: string, description: string, line: string): Command {
  return parent
    .command(name)
    .description(description)
    .usage('[-c FILE] [--section.key value …]')
    .option('-c, --config <file>', 'the configuration file (YAML)')
    .option('--json', 'print JSON instead of a table')
    .addHelpText('after', example(line))
}

export const example = (line: string): string => `\nExample:\n  ${line}`
