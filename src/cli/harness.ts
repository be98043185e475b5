/** `svc harness`: commands on harness trees in folders, without a service. */
import type { Command } from 'commander'
import type { PowersOptions } from './harness/powers.ts'
import type { BindCommand, Surroundings } from './surroundings.ts'

const EXAMPLES = `
Examples:
  svc harness powers ./release                  what the tree in this folder could do on a machine
  svc harness powers ./new --before ./old       what a change of one into the other could do
  svc harness powers ~/.claude --adapter claude the agent's own folder

Exit codes: 0 only words, 1 it may do more than that, 2 it is no tree, or cannot be read.
A file that neither an entry nor the adapter accounts for has every power. The .git of the folder is not read.`

export function addHarnessCommands(program: Command, run: BindCommand): void {
  const harness = program.command('harness').description('look at the tree of a harness in a folder')
  harness.addHelpText('after', '\nExample:\n  svc harness powers ./release')
  run<PowersOptions>(harness.command('powers').description('what a tree could do on a machine, with the entries and why'), powers)
    .argument('<folder>', 'the folder that the tree is in')
    .option('--before <folder>', 'another tree: only what differs from it counts')
    .option('--adapter <name>', 'the agent that the tree is for; found from its files where it can be')
    .option('--json', 'print JSON instead of a table')
    .addHelpText('after', EXAMPLES)
}

/** Loaded when it is used: adapters bring much along that other commands do not need. */
const powers = async (options: PowersOptions, surroundings: Surroundings): Promise<number> =>
  (await import('./harness/powers.ts')).powers(options, surroundings)
