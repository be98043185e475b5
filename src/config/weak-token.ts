/** Whether a token can be guessed by trying: too short, of few characters, or made of the words and sequences that are tried first. */

const CHARACTERS_LEAST = 16
/** A strong token has so many characters left without well-known words and sequences. */
const OWN_CHARACTERS_LEAST = 8
const OWN_DISTINCT_LEAST = 5

const WELL_KNOWN =
  /passw(?:or)?d|passphrase|token|secret|admin|root|user|test|demo|example|sample|default|change[-_ ]?me|let[-_ ]?me[-_ ]?in|welcome|qwerty|asdf|zxcv|svc|server|service|gateway|bearer|auth|api|key|the|your|my/g

export const WEAK_TOKEN_RULE = `at least ${CHARACTERS_LEAST} characters, ${OWN_CHARACTERS_LEAST} of them beside words such as password or token and sequences such as 1234 or aaaa`

export function isWeakToken(token: string): boolean {
  const own = Array.from(token.toLowerCase().replaceAll(WELL_KNOWN, '')).filter((character, at, all) => !goesOn(all[at - 1], character))
  return token.length < CHARACTERS_LEAST || own.length < OWN_CHARACTERS_LEAST || new Set(own).size < OWN_DISTINCT_LEAST
}

/** The same character once more, or the next one up or down. */
const goesOn = (before: string | undefined, character: string): boolean =>
  before !== undefined && Math.abs((before.codePointAt(0) ?? 0) - (character.codePointAt(0) ?? 0)) <= 1
