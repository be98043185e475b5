/** The welcome: runs the demo scenario on a started service and prints the result. */
import { fileURLToPath } from 'node:url'
import { ConfigProblem, loadConfig, type Environment, type LoadedConfig } from '../../config/index.ts'
import type { JsonObject } from '../../contract/index.ts'
import { objectOf, textOf } from '../../dialects/index.ts'
import type { ServiceAddress } from '../../improve/index.ts'
import { showHiddenLine, wordsOf } from '../../kit/index.ts'
import { paint, cut, oneLine } from '../screen/text.ts'
import type { ServiceOptions } from '../../main.ts'
import type { ConfigOptions, Surroundings } from '../surroundings.ts'
import type { DemoState, runDemo } from './demo.ts'

/** Loaded on demand: most services run no demo. */
const demo = () => import('./demo.ts')

const FILE = fileURLToPath(new URL('./svc.yaml', import.meta.url))
const RULE_CHARACTERS_MAX = 100
const PRACTICE = 'practice'

/** Null where a real model would answer, which may cost money, and where recipes are configured. */
export async function withPractice(
  plain: LoadedConfig,
  { config, commandLine }: ConfigOptions,
  environment: Environment,
): Promise<LoadedConfig | null> {
  if (config !== undefined || plain.upstream.runtime !== 'practice') return null
  try {
    // Data and plug-ins are in the user's folder, not in this file's.
    const { baseDirectory } = plain
    return await loadConfig({ file: FILE, baseDirectory, commandLine, environment, probe: () => Promise.resolve(null) })
  } catch (error) {
    // Recipe sections on the command line do not go with these recipes.
    if (error instanceof ConfigProblem) return null
    throw error
  }
}

export async function demoState(loaded: LoadedConfig, url: string, signal: AbortSignal): Promise<DemoState> {
  const { demoStateOf } = await demo()
  return demoStateOf(addressOf(loaded, url, signal)).catch(() => 'ahead')
}

/** Never throws: the service runs on. */
export async function welcome(loaded: LoadedConfig, url: string, signal: AbortSignal, surroundings: Surroundings): Promise<void> {
  try {
    const result = await (await demo()).runDemo(addressOf(loaded, url, signal))
    if (result !== null) surroundings.out(resultText(result, url, surroundings))
  } catch (error) {
    if (signal.aborted) return
    surroundings.err(`the demo scenario ${PRACTICE} failed: ${wordsOf(error)}; the service itself runs on`)
  }
}

const addressOf = ({ config }: LoadedConfig, url: string, signal: AbortSignal): ServiceAddress => ({
  url,
  token: config.svc.token ?? config.svc.tokens[0] ?? null,
  signal,
})

type DemoResult = NonNullable<Awaited<ReturnType<typeof runDemo>>>

function resultText({ asked, rightBefore, rightAfter, release }: DemoResult, url: string, screen: Pick<Surroundings, 'colours'>): string {
  if (release === null) return `\n${PRACTICE}  no change tried so far is better than what is served: ${url}/console shows them`
  const { rule, reason } = changeOf(release)
  const became = rule === '' ? '' : `, by the rule ${paint(JSON.stringify(rule), 'strong', screen)}`
  return [
    '',
    `${paint(PRACTICE, 'strong', screen)}  before  ${rightBefore} of ${asked} Roman numerals right`,
    `          after   ${paint(`${rightAfter} of ${asked}`, 'good', screen)}${became}`,
    `          Served as v${JSON.stringify(release['step'])}${reason === '' ? '' : `, because it was ${reason}`}. Every step: ${url}/console`,
  ].join('\n')
}

/** The change and its reason. The rule was written by a model, so it is printed as one safe line. */
function changeOf({ metrics }: JsonObject): { readonly rule: string; readonly reason: string } {
  const { mutation, selection } = objectOf(metrics)
  const { config } = objectOf(objectOf(mutation)['options'])
  const [reason = ''] = textOf(objectOf(selection)['reason']).split(':', 1)
  return { rule: cut(oneLine(textOf(objectOf(config)['text'])), RULE_CHARACTERS_MAX), reason: oneLine(reason) }
}

/** The log during the welcome: only warnings and errors, one line each. Successes are on the console. */
export function calmLog(print: (line: string) => void): Extract<ServiceOptions['log'], { write: unknown }> {
  return {
    write(level, event, { message, ...fields }) {
      if (level === 'info') return
      const more = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`
      print(showHiddenLine(`${event}${typeof message === 'string' ? `: ${message}` : ''}${more}`))
    },
    flush: () => undefined,
  }
}
