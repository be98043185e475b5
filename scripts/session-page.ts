/** The page of the recorded session: which commands it has, and how they are shown. */

export const SESSION_PAGE = 'docs/session.md'
/** Stands for the id that the command before printed. */
export const RECEIPT = 'RECEIPT'

interface SessionCommand {
  readonly typed: string
  /** What it is for. */
  readonly words: string
}

export const SESSION: readonly [SessionCommand, ...SessionCommand[]] = [
  { typed: 'svc serve &', words: 'Start the service. Without a configuration the built-in mock model answers; no API key is needed.' },
  {
    typed: `curl -sS http://127.0.0.1:8900/v1/chat/completions -H 'x-svc-scenario: tour' -d '{"model": "practice", "messages": [{"role": "user", "content": "What is 17 + 25?"}]}'`,
    words: 'Call it like the provider. The header names the scenario, which the first call creates.',
  },
  { typed: 'svc records tour', words: 'The exchange is stored, under a receipt.' },
  { typed: `svc report ${RECEIPT} --score 1 --text "Right, and short."`, words: 'Say how good it was: a report quotes the receipt.' },
  { typed: `svc show ${RECEIPT}`, words: 'The report as it is stored, with the exchange that it is about.' },
  { typed: 'svc status', words: 'What the service is doing, and whether anything needs you.' },
  {
    typed: 'svc improve --practice --yes',
    words:
      'Make an agent better. This one writes Roman numerals, mostly wrong. The command plays its tasks, writes changes of its rules from what failed, proves them on tasks that their author never saw, and shows what every task scored before and after.',
  },
]

export interface PlayedCommand extends SessionCommand {
  readonly printed: string
}

export function sessionPage(played: readonly PlayedCommand[]): string {
  const parts = played.map(({ typed, words, printed }) => `${words}\n\n\`\`\`console\n$ ${typed}\n${printed}\n\`\`\``)
  return `# A session in the terminal

From the first start to a better agent, without a network. \`npm run docs:session\` recorded it: these are real commands against the built-in mock model. The [quickstart](quickstart.md) goes the same way, for you to type.

${parts.join('\n\n')}

Lines that only count on are left out (…). To see the first part in the browser, open the [console](console.md).
`
}

/** The commands that a page has, as they were typed. */
export const typedOn = (page: string): readonly string[] => [...page.matchAll(/^\$ (.+)$/gm)].map(([, typed = '']) => typed)
