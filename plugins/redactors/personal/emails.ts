/** Email addresses: from each at sign to the left and to the right, so that no text is read twice. */
import type { Stand, Without } from './stand.ts'

const LOCAL_MAX = 64
const DOMAIN_MAX = 253
/** The sign itself, as it stands in addresses of pages, and in full width. */
const AT = /@|%40|\uff20/g
const LOCAL = /[\p{L}\p{N}._%+'-]/u
const DOMAIN =
  /^[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62}[\p{L}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62}[\p{L}\p{N}])?){0,10}\.\p{L}{2,24}(?![\p{L}\p{N}])/u
/** Addresses of repositories, which name no person. */
const NOBODY = /^(?:git|hg)$/i

export const withoutEmails: Without = (text, stand) => {
  let rest = ''
  let done = 0
  for (const { 0: sign, index } of text.matchAll(AT)) {
    if (index < done) continue
    const start = startOf(text, index, done)
    const [domain = ''] = DOMAIN.exec(text.slice(index + sign.length, index + sign.length + DOMAIN_MAX)) ?? []
    if (start === index || domain === '' || NOBODY.test(text.slice(start, index))) continue
    const end = index + sign.length + domain.length
    rest += text.slice(done, start) + standFor(text.slice(start, index), domain, stand)
    done = end
  }
  return done === 0 ? text : rest + text.slice(done)
}

const standFor = (local: string, domain: string, stand: Stand): string => stand.for('email', `${local}@${domain}`.toLowerCase())

/** Where the part before the sign begins. An escape of JSON before it is not cut in two. */
function startOf(text: string, sign: number, least: number): number {
  let start = sign
  while (start > least && sign - start < LOCAL_MAX && LOCAL.test(text.charAt(start - 1))) start -= 1
  const [escape = ''] = /^(?:u[0-9a-fA-F]{4}|[bfnrt])/.exec(text.charAt(start - 1) === '\\' ? text.slice(start, sign) : '') ?? []
  start += escape.length
  while (start < sign && /[.'%-]/.test(text.charAt(start))) start += 1
  return start
}
