/** The command line of the soak. */

import { tmpdir } from 'node:os'
import { parseArgs } from 'node:util'

export interface SoakOptions {
  readonly minutes: number
  readonly perSecond: number
  readonly listeners: 1 | 2
  readonly json: boolean
  readonly directory: string
}

export const SOAK_HELP = `npm run soak -- [options]

Serves mixed traffic for a long time: requests of 200 B, 16 KB and 400 KB, streams, reports that are trained on,
and promotes. Samples the memory of the service, reads receipts back, and kills it with kill -9 at the end.
Build first: npm run build. Results are written to bench/results/ after every slice, also when it is stopped.

  --minutes N      how long (60); the slope of the memory is judged from 10 minutes on
  --rate N         requests per second in all (500)
  --listeners N    1 or 2 (1)
  --dir DIR        where its data is kept (the system's temporary directory); an hour takes about 4 GB
  --json           print the result as JSON
  --help

Exit status: 0 every goal met, 1 a goal missed, 2 the soak could not run.`

/** Undefined when only help was requested. */
export function readSoakOptions(args: readonly string[]): SoakOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '60' },
      rate: { type: 'string', default: '500' },
      listeners: { type: 'string', default: '1' },
      dir: { type: 'string', default: tmpdir() },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined
  const minutes = Number(values.minutes)
  const perSecond = Number(values.rate)
  if (!(minutes > 0)) throw new Error('--minutes takes a number above 0')
  if (!(perSecond >= 50)) throw new Error('--rate takes a number of 50 or more')
  if (values.listeners !== '1' && values.listeners !== '2') throw new Error('--listeners takes 1 or 2')
  return { minutes, perSecond, listeners: values.listeners === '2' ? 2 : 1, json: values.json, directory: values.dir }
}
