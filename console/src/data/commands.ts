/** Lines for a terminal, safe to be pasted whatever a scenario is called. Pure. */

type Mode = 'auto' | 'manual' | 'hybrid'

export function modeCommand(origin: string, scenario: string, mode: Mode, hasToken: boolean): string {
  const address = `${origin}/svc/scenarios/${encodeURIComponent(scenario)}/update`
  return `curl -sS ${quoted(address)}${hasToken ? ` ${PASS}` : ''} -d ${quoted(JSON.stringify({ training_mode: mode }))}`
}

/** Makes the first record of a scenario, and the scenario with it. A name beyond ASCII goes as UTF-8, which is what a terminal sends. */
export function firstCommand(origin: string, scenario: string, hasToken: boolean): string {
  const headers = [`x-svc-scenario: ${scenario}`, 'content-type: application/json'].map((header) => `-H ${quoted(header)}`)
  const body = JSON.stringify({ model: 'practice', messages: [{ role: 'user', content: 'What is 17 + 25?' }] })
  return [`curl ${origin}/v1/chat/completions`, ...headers, ...(hasToken ? [PASS] : []), `-d ${quoted(body)}`].join(' \\\n  ')
}

/** The token stays out of every line: the shell puts it in. */
const PASS = '-H "authorization: Bearer $SVC_TOKEN"'

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
