/**
 * Takes common personal data out of texts: email addresses, phone numbers, payment cards, keys and tokens, and postal addresses of the usual
 * forms. Every finder takes time in proportion to the text. What it takes out is numbered, so that two people stay two.
 * Config: `kinds`, which of these are taken out; all of them when it is left out.
 */
import { define, invalid, type Json, type Redactor } from '../../../src/contract/index.ts'
import { withoutAddresses } from './addresses.ts'
import { withoutCards } from './cards.ts'
import { withoutEmails } from './emails.ts'
import { withoutKeys } from './keys.ts'
import { withoutPhones } from './phones.ts'
import { Stand, type Without } from './stand.ts'

/** In this order: the password in an address would read as an email, a card as a phone number. */
const FINDERS = {
  keys: withoutKeys,
  emails: withoutEmails,
  cards: withoutCards,
  phones: withoutPhones,
  addresses: withoutAddresses,
} as const
type PersonalKind = keyof typeof FINDERS
const ALL = Object.keys(FINDERS)

export default define('redactor', {
  make({ kinds = ALL }): Redactor {
    const wanted = kindsIn(kinds)
    const finders: readonly Without[] = Object.entries(FINDERS).flatMap(([kind, finder]) => (wanted.has(kind) ? [finder] : []))
    return {
      open() {
        const stand = new Stand()
        return (text) => finders.reduce((left, without) => without(left, stand), text)
      },
    }
  },
})

function kindsIn(kinds: Json): ReadonlySet<string> {
  if (Array.isArray(kinds) && kinds.every((kind) => typeof kind === 'string' && isKind(kind))) return new Set(kinds.map(String))
  throw invalid('redactor_config', `recording.redactor_settings.kinds must be a list of ${ALL.join(', ')}`)
}

const isKind = (kind: string): kind is PersonalKind => Object.hasOwn(FINDERS, kind)
