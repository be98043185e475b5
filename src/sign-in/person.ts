/** How a person is named, from what the provider says. */
import { unauthorized } from '../contract/index.ts'

const SUBJECT = /^[\x21-\x7e]{1,255}$/
/** Letters of any language, without what could pass for other words of a line. */
const NAME = /^[\p{L}\p{N}._%+@-]{1,254}$/u

/**
 * The name that people know, and the subject, which alone is the provider's word for one person for ever: a name may be chosen freely. No
 * token can be named like this, since it holds a blank.
 */
export function personIn(claims: Readonly<Record<string, unknown>>): string {
  const { sub } = claims
  if (typeof sub !== 'string' || !SUBJECT.test(sub))
    throw unauthorized('the sign-in provider names no subject that could be written down; ask whoever runs it', 'sign_in_failed')
  const name = [claims['email_verified'] === false ? null : claims['email'], claims['preferred_username']].find(isName)
  return name === undefined ? `subject ${sub}` : `${name} (${sub})`
}

const isName = (name: unknown): name is string => typeof name === 'string' && NAME.test(name)
