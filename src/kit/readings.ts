/** What a text says to a model or a program that decodes it. */
import { hiddenCharacters } from '@svc-ai/client/hidden'

/** The text as a model or a program would read it. Equal ones are left out. */
export function readings(text: string): readonly string[] {
  const visible = withoutHidden(text)
  const unescaped = percentDecoded(unescapedJson(visible))
  const decoded = [...new Set([visible, unescaped])].flatMap(decodedRuns)
  return [...new Set([visible, unescaped, withoutSeams(unescaped), ...decoded])].filter((reading) => reading !== text)
}

/** Full-width letters and invisible characters inside a word read the same to a model. */
export function withoutHidden(text: string): string {
  let visible = ''
  let after = 0
  for (const { at, code, name } of hiddenCharacters(text)) {
    visible += text.slice(after, at)
    // A look-alike stays: it is seen, and NFKC makes it plain where it can.
    const character = String.fromCodePoint(Number.parseInt(code.slice(2), 16))
    if (/^unusual|letter/.test(name)) visible += character
    after = at + character.length
  }
  return (visible + text.slice(after)).normalize('NFKC')
}

const unescapedJson = (text: string): string =>
  text.includes('\\')
    ? text.replaceAll(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([/\\"'-]))/g, (_, four?: string, two?: string, plain?: string) =>
        plain === undefined ? String.fromCharCode(Number.parseInt(four ?? two ?? '0', 16)) : plain,
      )
    : text

const percentDecoded = (text: string): string =>
  text.includes('%') ? text.replaceAll(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))) : text

/** Texts in quotes that a program would join: `'sk-' + 'abc'`. */
const withoutSeams = (text: string): string => text.replaceAll(/(["'`])\s{0,8}[+.,&]?\s{0,8}\1/g, '')

const RUN = /[A-Za-z0-9+/_-]{24,}={0,2}/g
const RUNS_MAX = 200
const PRINTED = /^[\t\n\r\x20-\x7e]{12,}$/

/** What Base64 and hexadecimal runs say, where that is printed text. */
function decodedRuns(text: string): readonly string[] {
  const found: string[] = []
  let runs = 0
  for (const [run] of text.matchAll(RUN)) {
    runs += 1
    if (runs > RUNS_MAX) break
    const encodings = /^(?:[0-9a-fA-F]{2})+$/.test(run) ? (['hex', 'base64'] as const) : (['base64'] as const)
    found.push(...encodings.map((encoding) => Buffer.from(run, encoding).toString('latin1')).filter((said) => PRINTED.test(said)))
  }
  return found
}
