/** The rule for scenario names. */
import { invalid, SCENARIO_NAME_CHARACTERS_MAX } from '../contract/index.ts'
import { countCodePoints } from '../kit/index.ts'

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f/]/

/** Answers the trimmed name, or throws a refusal that says where the name came from. */
export function scenarioName(text: string, from: string): string {
  const name = text.trim()
  const isAllowed = name !== '' && name !== '.' && name !== '..' && !FORBIDDEN.test(name) && name.isWellFormed()
  if (isAllowed && countCodePoints(name) <= SCENARIO_NAME_CHARACTERS_MAX) return name
  throw invalid(
    'bad_scenario_name',
    `${from} must name a scenario: 1 to ${SCENARIO_NAME_CHARACTERS_MAX} characters, no control characters, no '/', not '.' or '..'`,
  )
}
