/** The first minutes, beside a service that is ready: a scenario improves, and a few lines say what came of it. */
import type { LoadedConfig } from '../../config/index.ts'
import type { JsonObject } from '../../contract/index.ts'
import { wordsOf } from '../../kit/index.ts'
import { paint } from '../screen/paint.ts'
import { cut, oneLine } from '../screen/text.ts'
import type { Surroundings } from '../surroundings.ts'
import { lessonOf, PRACTICE, practise, type Lesson, type Practised } from './practise.ts'
import { objectOf, textOf, type Place } from './service.ts'

const RULE_CHARACTERS_MAX = 100

/** What is to be promised. A service that cannot be asked says so when the lesson begins. */
export async function lookAhead(loaded: LoadedConfig, url: string, signal: AbortSignal): Promise<Lesson> {
  return lessonOf(placeOf(loaded, url, signal)).catch(() => 'ahead')
}

/** Never fails: whatever goes wrong here, the service serves. */
export async function welcome(loaded: LoadedConfig, url: string, signal: AbortSignal, surroundings: Surroundings): Promise<void> {
  try {
    const practised = await practise(placeOf(loaded, url, signal))
    if (practised !== null) surroundings.out(story(practised, url, surroundings))
  } catch (error) {
    if (signal.aborted) return
    surroundings.err(`the scenario ${PRACTICE} was not played to its end: ${wordsOf(error)}; the service itself goes on`)
  }
}

const placeOf = ({ config }: LoadedConfig, url: string, signal: AbortSignal): Place => ({
  url,
  token: config.svc.token ?? config.svc.tokens[0] ?? null,
  signal,
})

function story({ asked, rightBefore, rightAfter, release }: Practised, url: string, screen: Pick<Surroundings, 'colours'>): string {
  if (release === null)
    return `\n${PRACTICE}  nothing that was tried so far is better than what is served: ${url}/console shows what it was`
  const { rule, reason } = whyOf(release)
  const became = rule === '' ? '' : `, by the rule ${paint(JSON.stringify(rule), 'strong', screen)}`
  return [
    '',
    `${paint(PRACTICE, 'strong', screen)}  before  ${rightBefore} of ${asked} Roman numerals right`,
    `          after   ${paint(`${rightAfter} of ${asked}`, 'good', screen)}${became}`,
    `          Served as v${JSON.stringify(release['step'])}${reason === '' ? '' : `, since it was ${reason}`}. Every step of it: ${url}/console`,
  ].join('\n')
}

/** What was changed and on what grounds. The rule is a model's, and may hold what anybody wrote to it. */
function whyOf({ metrics }: JsonObject): { readonly rule: string; readonly reason: string } {
  const { mutation, selection } = objectOf(metrics)
  const { config } = objectOf(objectOf(mutation)['options'])
  const [reason = ''] = textOf(objectOf(selection)['reason']).split(':', 1)
  return { rule: cut(oneLine(textOf(objectOf(config)['text'])), RULE_CHARACTERS_MAX), reason: oneLine(reason) }
}
