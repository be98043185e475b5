/** The configuration as the service read it, and the part of it that is about a recipe. Pure. */
import type { Configuration } from '@svc-ai/client'

export type ConfigurationKey = Configuration['keys'][number]

/** What bounds the training of a scenario, and what decides who is served a change. */
export const TOPICS = {
  budgets: [
    'max_steps',
    'max_failure_streak',
    'max_episodes_per_step',
    'max_model_calls_per_step',
    'max_tokens_per_step',
    'max_cost_per_step',
    'max_tokens_per_day',
    'max_cost_per_day',
  ],
  rollout: ['publish', 'publish_powers', 'review_kinds', 'provisional', 'canary_share'],
} as const
export type ConfigurationTopic = keyof typeof TOPICS

const SECTION = 'evolution.'

/** Of a topic and a recipe: its own keys where it has any, else those at the top of the file. */
export function keysAbout(
  { keys }: Pick<Configuration, 'keys'>,
  topic: ConfigurationTopic,
  recipe: string | null,
): readonly ConfigurationKey[] {
  const of = (prefix: string): readonly ConfigurationKey[] =>
    TOPICS[topic].flatMap((name) => keys.filter(({ key }) => key === `${prefix}${SECTION}${name}`))
  const own = recipe === null ? [] : of(`recipes.${recipe}.`)
  return own.length > 0 ? own : of('')
}

export const isAbout = ({ key }: ConfigurationKey, topic: ConfigurationTopic): boolean =>
  TOPICS[topic].some((name) => key.endsWith(`${SECTION}${name}`))

/** A value in a line: text as it is, everything else as JSON. */
export const valueText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
