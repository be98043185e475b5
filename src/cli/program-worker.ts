/** `svc worker`: what it takes. */
import { availableParallelism, hostname } from 'node:os'
import type { Command } from 'commander'
import { later, type BindCommand } from './surroundings.ts'
import type { WorkerOptions } from './worker.ts'

const EXAMPLE = '\nExample:\n  SVC_TOKEN=… svc worker -c svc.yaml --url https://svc.example.com --slots 8'

export function addWorkerCommand(program: Command, run: BindCommand): void {
  run<WorkerOptions>(
    program.command('worker').description('play episodes of a service on this machine, until it is stopped'),
    later(async () => (await import('./worker.ts')).worker),
  )
    .option('-c, --config <file>', 'the configuration of the service: its recipes say what is played')
    .option('--url <address>', 'the address of the service')
    .option('--slots <count>', 'how many episodes it plays at once', String(availableParallelism()))
    .option('--name <name>', 'the name of this worker; each has another', `${hostname()}-${process.pid}`)
    .option('--json', 'print one JSON object a line')
    .addHelpText(
      'after',
      `${EXAMPLE}\n\nIt takes a token of the role worker: svc token create NAME --role worker\nThe first signal lets it finish what it plays; the second gives that back at once.`,
    )
}
