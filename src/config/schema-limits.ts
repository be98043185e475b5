/** The keys of the limits: what each token and each scenario may take. */
import * as z from 'zod'
import { none, seconds, section, text } from './types.ts'

const money = () => z.number('must be a number').min(0, 'must be at least 0')

const subject = (whose: string) =>
  section({
    requests_per_minute: none.describe(`How many requests ${whose} may make in a minute. 0: no limit.`),
    tokens_per_minute: none.describe(
      `How many tokens of questions and answers ${whose} may take in a minute. What the last answer takes beyond it counts in the next minutes. 0: no limit.`,
    ),
    cost_per_day: money()
      .default(0)
      .describe(
        `How much money ${whose} may spend in a day (UTC), by \`limits.prices\`. What the last answer costs beyond it counts in the next day. 0: no limit.`,
      ),
    concurrent_requests: none.describe(`How many requests ${whose} may have in flight at once. 0: no limit.`),
  })

const named = (whose: string) => z.record(text, subject(whose), 'must be a section with limits per name').default({})

export const limits = section({
  token: subject('each token').prefault({}),
  tokens: named('the token of this name, in place of `limits.token`,').describe('Limits of single tokens, by name.'),
  scenario: subject('each scenario').prefault({}),
  scenarios: named('the scenario of this name, in place of `limits.scenario`,').describe('Limits of single scenarios, by name.'),
  upstream: section({
    concurrent_requests: none.describe(
      'How many requests the upstream is asked at once, by all scenarios together. Further ones wait, the scenario with the fewest turns first; one scenario takes at most nine tenths. 0: no limit.',
    ),
    requests_per_minute: none.describe(
      'How many requests the upstream is asked in a minute, evenly spread, by all scenarios together. Further ones wait in the same order. 0: no limit.',
    ),
    wait_s: seconds('zero').default(30).describe('How long a request waits for its turn at the upstream, in seconds; then it is 429.'),
  }).prefault({}),
  prices: z
    .record(
      text,
      section({
        input: money().describe(
          'What a million tokens of questions cost, with the model of this name. `*` stands for every other model; without it a model that is not listed costs as much as the dearest one.',
        ),
        output: money().describe('What a million tokens of answers cost.'),
      }),
      'must be a section of models, each {input, output}',
    )
    .default({})
    .describe('What tokens cost, by the name of the model. Limits of money need it.'),
})
