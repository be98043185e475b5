/** Wire shapes of tokens, the audit, and who is forgotten. */
import { z } from 'zod'
import { SCENARIO_NAME_CHARACTERS_MAX, TAG_VALUE_CHARACTERS_MAX, TOKEN_DAYS_MAX, TOKEN_LIMIT_MAX, TOKEN_SCENARIOS_MAX } from '../limits.ts'
import { ROLES } from '../roles.ts'
import { boundedText, count, jsonObject, seconds, text, type WireType } from './fields.ts'

const role = z.enum(ROLES, { error: `must be one of ${ROLES.join(', ')}` })

// ── requests ─────────────────────────────────────────────────────────────────────────────────

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/
const NAME_RULE = 'must be 1 to 64 letters, digits, dashes and underscores, and begin with a letter or a digit'
const scenarioNames = z
  .array(boundedText(SCENARIO_NAME_CHARACTERS_MAX, 'must be the name of a scenario'), { error: 'must be a list of scenario names' })
  .min(1, { error: 'must name a scenario; leave it out for all of them' })
  .max(TOKEN_SCENARIOS_MAX, { error: `must name at most ${TOKEN_SCENARIOS_MAX} scenarios` })
const DAYS_RULE = `must be a number of days above 0, at most ${TOKEN_DAYS_MAX}; leave it out for a token that does not expire`
const expiresInDays = z.exactOptional(
  z.number({ error: DAYS_RULE }).positive({ error: DAYS_RULE }).max(TOKEN_DAYS_MAX, { error: DAYS_RULE }),
)

const WHOLE_RULE = `must be a whole number from 0 to ${TOKEN_LIMIT_MAX}; 0 is no limit`
const whole = z.int({ error: WHOLE_RULE }).min(0, { error: WHOLE_RULE }).max(TOKEN_LIMIT_MAX, { error: WHOLE_RULE })
const MONEY_RULE = `must be a number from 0 to ${TOKEN_LIMIT_MAX}; 0 is no limit`
const money = z.number({ error: MONEY_RULE }).min(0, { error: MONEY_RULE }).max(TOKEN_LIMIT_MAX, { error: MONEY_RULE })

const TAG = /^[^=\s]{1,256}$/u
const TAG_RULE = 'must be the name of a tag, such as user: 1 to 256 characters without spaces and ='

export const forgetBodySchema = z.strictObject(
  {
    name: z.string({ error: TAG_RULE }).regex(TAG, { error: TAG_RULE }),
    value: boundedText(TAG_VALUE_CHARACTERS_MAX, 'must be the value that the tag has, such as u7'),
    dry_run: z.boolean({ error: 'must be true to count only, or false to remove' }),
  },
  { error: 'takes only name, value and dry_run' },
)
export type ForgetBody = WireType<typeof forgetBodySchema>

export const tokenLimitsSchema = z.strictObject(
  {
    requests_per_minute: z.exactOptional(whole),
    tokens_per_minute: z.exactOptional(whole),
    cost_per_day: z.exactOptional(money),
    concurrent_requests: z.exactOptional(whole),
  },
  {
    error: ({ code }) =>
      code === 'unrecognized_keys'
        ? 'takes requests_per_minute, tokens_per_minute, cost_per_day and concurrent_requests alone'
        : 'must be an object of limits',
  },
)
/** What a token was given of its own. What is left out is as the configuration says; 0 is no limit. */
export type TokenLimits = WireType<typeof tokenLimitsSchema>

export const createTokenBodySchema = z.strictObject(
  {
    name: z.string({ error: NAME_RULE }).regex(NAME, { error: NAME_RULE }),
    role,
    scenarios: z.exactOptional(scenarioNames).describe('The scenarios that it is for; left out, all of them.'),
    expires_in_days: expiresInDays,
    limits: z.exactOptional(tokenLimitsSchema).describe('Of its own. What is left out is as the configuration says; 0 is no limit.'),
  },
  {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? 'takes name, role, scenarios, expires_in_days and limits alone' : 'must be an object',
  },
)
export type CreateTokenBody = WireType<typeof createTokenBodySchema>

export const rotateTokenBodySchema = z.strictObject(
  { expires_in_days: expiresInDays },
  { error: ({ code }) => (code === 'unrecognized_keys' ? 'takes expires_in_days alone' : 'must be an object') },
)

// ── answers ──────────────────────────────────────────────────────────────────────────────────

export const tokenRowSchema = z.object({
  name: text,
  role,
  scenarios: z.array(text).nullable().describe('Null: all of them.'),
  created_at: seconds,
  created_by: text.describe(
    'The name of the token that made it, or svc.token or svc.tokens for one of the configuration; of a sign-in, the person.',
  ),
  expires_at: seconds.nullable().describe('Null: it does not expire.'),
  limits: z
    .exactOptional(tokenLimitsSchema)
    .describe('What it was given of its own: what is left out is as the configuration says, and 0 is no limit.'),
})
export type TokenRow = WireType<typeof tokenRowSchema>
const limitUseSchema = z.exactOptional(z.object({ used: z.number(), limit: z.number() }))
export const tokenUseSchema = z.object({
  requests_per_minute: limitUseSchema,
  tokens_per_minute: limitUseSchema,
  cost_per_day: limitUseSchema,
  concurrent_requests: limitUseSchema,
})
/** What was used of each limit that is in force. */
export type TokenUse = WireType<typeof tokenUseSchema>
export const listedTokenSchema = tokenRowSchema.extend({
  use: z.exactOptional(tokenUseSchema).describe('What it used of each limit that is in force, its own or one of the configuration.'),
})
export type ListedToken = WireType<typeof listedTokenSchema>
export const tokenListSchema = z.object({ tokens: z.array(listedTokenSchema).describe('By name. Without those of the configuration.') })
export type TokenList = WireType<typeof tokenListSchema>
export const newTokenSchema = tokenRowSchema.extend({ token: text.describe('Shown this once; only its hash is kept.') })
export type NewToken = WireType<typeof newTokenSchema>
export const revokedTokenSchema = z.object({ name: text, revoked: z.literal(true) })
export type RevokedToken = WireType<typeof revokedTokenSchema>

export const signInOfferSchema = z.object({
  sign_in: z
    .object({ name: text.describe('The words after "Sign in with".'), start_url: text })
    .nullable()
    .describe('Null: tokens alone.'),
})
export type SignInOffer = WireType<typeof signInOfferSchema>
export const callerSchema = z.object({
  kind: z.enum(['person', 'token', 'anyone']).describe('anyone: the service is open.'),
  name: text.nullable().describe('As the audit has it.'),
  role: role.nullable(),
  scenarios: z.array(text).nullable().describe('Null: all of them.'),
  expires_at: seconds.nullable().describe('Null: never.'),
})
export type Caller = WireType<typeof callerSchema>

export const forgottenPersonSchema = z.object({
  tag: z.record(z.string(), text),
  removed: z.boolean().describe('False: only counted.'),
  records: count.describe('Exchanges and train requests with the tag.'),
  reports: count.describe('Reports about them.'),
  tasks: count.describe('Mined tasks that were made of them.'),
  step_records: count.describe('Step records that were made of them.'),
  rewritten: count.describe('Bodies of others that were stored as the difference to one of them, and were written anew.'),
  scenarios: z.array(text),
  places: z.array(
    z.object({ place: text, searched: text.describe('What was looked for there.'), found: count.describe('0: nothing is left.') }),
  ),
  left: count.describe('How many places hold something still.'),
  unsearched: z.array(text).describe('Where something may be that the service cannot look for.'),
  receipts: z.array(z.object({ scenario: text, agent_record_id: text, sequence: count })).describe('Of scenarios that are not archived.'),
})
export type ForgottenPerson = WireType<typeof forgottenPersonSchema>

export const auditRowSchema = z.object({
  sequence: count.describe('From 1, without gaps.'),
  id: text.describe('The id of the request, as the log has it.'),
  at: seconds,
  by: text
    .nullable()
    .describe(
      'The name of the token, or svc.token or svc.tokens for one of the configuration, or the person who signed in; null on an open service, and where nobody did it.',
    ),
  role: role.nullable().describe('Null where by is.'),
  from: text.nullable().describe('The address that the connection came from.'),
  action: text.describe('What was done, as the OpenAPI document names the operation.'),
  scenario: text.nullable(),
  target: text.nullable().describe('What it was done to within the scenario or the deployment: a token, a release, a task, a request.'),
  before: jsonObject.nullable(),
  after: jsonObject.nullable(),
})
export type AuditRow = WireType<typeof auditRowSchema>
export const auditListSchema = z.object({
  audit: z.array(auditRowSchema),
  next_after_sequence: z.exactOptional(count.nullable()),
  next_before_sequence: z.exactOptional(count.nullable()),
})
export type AuditList = WireType<typeof auditListSchema>
