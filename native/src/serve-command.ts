/** The command line of `svc-native serve`. */
import { parseArgs } from 'node:util'
import { UsageError, scenarioName, serviceUrl, tokenIn, understand, wholeNumber } from '@svc-ai/client/shared'
import { POLL_SECONDS_DEFAULT, TURN_SECONDS_DEFAULT } from './limits.ts'
import { serve, type ServeOptions } from './serve.ts'

const SECONDS_MAX = 86_400

export async function serveCommand(args: readonly string[], signal: AbortSignal): Promise<number> {
  await serve(optionsOf(args), (line) => process.stderr.write(`svc-native: ${line}\n`), signal)
  return 0
}

function optionsOf(args: readonly string[]): ServeOptions {
  const { values } = understand(() =>
    parseArgs({
      args: [...args],
      options: {
        tree: { type: 'string', default: '.' },
        scenario: { type: 'string' },
        url: { type: 'string' },
        follow: { type: 'string', default: 'head' },
        'poll-interval': { type: 'string', default: String(POLL_SECONDS_DEFAULT) },
        'turn-timeout': { type: 'string', default: String(TURN_SECONDS_DEFAULT) },
        'self-tools': { type: 'boolean', default: false },
      },
    }),
  )
  const { follow } = values
  if (follow !== 'head' && follow !== 'pinned') throw new UsageError('--follow must be head or pinned')
  return {
    folder: values.tree,
    url: serviceUrl(values.url),
    scenario: scenarioName(values.scenario),
    token: tokenIn(process.env),
    follow,
    pollSeconds: wholeNumber('--poll-interval', values['poll-interval'], 1, SECONDS_MAX),
    turnSeconds: wholeNumber('--turn-timeout', values['turn-timeout'], 1, SECONDS_MAX),
    selfTools: values['self-tools'],
  }
}
