/** `page`: what a step of the harness changed, in the browser. */
import { spawn } from 'node:child_process'
import { Failure, UsageError, readArguments } from '@svc-ai/client/shared'
import { isOnPath } from './programs.ts'
import { serviceOf, type Install } from './service.ts'
import type { Terminal } from './terminal.ts'
import { withoutToken } from './token.ts'

const BROWSERS = process.platform === 'darwin' ? ['open'] : ['xdg-open', 'wslview']

/** The link is printed in any case: there may be no browser here, or none that can be seen. */
export async function page(install: Install, args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = readArguments(args, { print: { type: 'boolean', default: false } })
  const step = stepOf(positionals)
  const rows = await (await serviceOf(install)).catalog()
  const row = rows[step]
  if (row === undefined) throw new Failure(`there is no page ${step}; pages have the numbers 0 to ${rows.length - 1}`)
  const link = `${install.record.url}${row.page_path}`
  terminal.print(link)
  const browser = values.print ? undefined : BROWSERS.find((command) => isOnPath(command, install.env))
  if (browser !== undefined) open(browser, link, withoutToken(install.env))
  return 0
}

function stepOf(positionals: readonly string[]): number {
  const step = /^v?(\d{1,9})$/.exec(positionals[0] ?? '')?.[1]
  if (step === undefined || positionals.length > 1) throw new UsageError('name one release, such as v3')
  return Number(step)
}

/** Not waited for: it may stay open as long as the browser does. */
function open(browser: string, link: string, env: NodeJS.ProcessEnv): void {
  const child = spawn(browser, [link], { env, detached: true, stdio: 'ignore' })
  child.on('error', () => undefined)
  child.unref()
}
