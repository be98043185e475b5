/** Lines for a terminal, safe to be pasted whatever a scenario is called. Pure. */

/** Makes the first record of a scenario, and the scenario with it. A name beyond ASCII goes as UTF-8, which is what a terminal sends. */
export function firstCommand(origin: string, scenario: string, hasToken: boolean): string {
  const headers = [`x-svc-scenario: ${scenario}`, 'content-type: application/json'].map((header) => `-H ${quoted(header)}`)
  const body = JSON.stringify({ model: 'practice', messages: [{ role: 'user', content: 'What is 17 + 25?' }] })
  return [`${curl(hasToken)} ${origin}/v1/chat/completions`, ...headers, `-d ${quoted(body)}`].join(' \\\n  ')
}

/** The shell puts the token in, and curl reads it from its input: among its arguments everyone on the machine could read it. */
const curl = (hasToken: boolean): string =>
  hasToken ? String.raw`printf 'authorization: Bearer %s\n' "$SVC_TOKEN" | curl -sS -H @-` : 'curl -sS'

export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
