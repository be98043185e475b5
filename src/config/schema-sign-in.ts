/** The keys of signing in: the OpenID Connect provider, and what its groups may do. */
import * as z from 'zod'
import { ROLES, TOKEN_SCENARIOS_MAX } from '../contract/index.ts'
import { issuerUrl, oneOf, publicUrl, secret, section, text, whole } from './types.ts'

const HOURS_MAX = 720

const group = section({
  role: oneOf(ROLES).describe('What people of this group may do, as with tokens.'),
  scenarios: z
    .array(text, 'must be a list of scenario names')
    .min(1, 'must name a scenario; leave it out for all of them')
    .max(TOKEN_SCENARIOS_MAX, `must name at most ${TOKEN_SCENARIOS_MAX} scenarios`)
    .nullable()
    .default(null)
    .describe('The scenarios that they may do it in. Unset: all of them. The role `agent` needs some, `admin` takes none.'),
}).check(({ value: { role, scenarios }, issues }) => {
  if (role === 'agent' && scenarios === null)
    issues.push({ code: 'custom', input: role, path: ['role'], message: 'agent is for the scenarios that it names; set scenarios' })
  if (role === 'admin' && scenarios !== null)
    issues.push({
      code: 'custom',
      input: scenarios,
      path: ['scenarios'],
      message: 'must be left out: the role admin is for the whole deployment',
    })
})

export const signIn = section({
  issuer: issuerUrl.describe(
    'The OpenID Connect provider, as it names itself: the address before `/.well-known/openid-configuration`. Setting it lets people sign in with it, after `svc sign-in add openid`.',
  ),
  client_id: text.describe('The name of this service with the provider.'),
  client_secret: secret
    .nullable()
    .default(null)
    .describe('Its secret, best as `${NAME}` from the environment. Unset: the provider knows it as a public client.'),
  public_url: publicUrl.describe(
    'The address at which people open this service in browsers. The provider must let people return to it with `/svc/sign-in/callback` added.',
  ),
  name: text.max(40, 'must have at most 40 characters').default('your account').describe('The words after "Sign in with" on the button.'),
  scopes: z
    .array(text.regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be a scope without blanks'), 'must be a list of scopes')
    .default(['openid', 'profile', 'email'])
    .refine((scopes) => scopes.includes('openid'), 'must hold openid')
    .describe('What the provider is asked for. Some give the groups for a scope of their own, mostly `groups`.'),
  groups_claim: text
    .default('groups')
    .describe("The claim that holds the person's groups: a list of names, or one name. Looked for in the id token, then in the user info."),
  groups: z
    .record(text, group, 'must be a section with one group per name')
    .describe(
      'What people of a group may do, by the exact name of the group. Of several groups the strongest role counts: admin, review, serve, agent, read. People of none are refused.',
    ),
  hours: whole(`must be a whole number of hours from 1 to ${HOURS_MAX}`, 1, HOURS_MAX)
    .default(12)
    .describe('How long a sign-in lasts. A person who left a group is out after this long at the latest.'),
})
