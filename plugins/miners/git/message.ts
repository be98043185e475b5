/** Turns the message of a commit into what an agent is asked: what to achieve, without links, names of tests and hints of the change. */
import { MINED_PROMPT_ENDS } from '../../../src/contract/index.ts'
import { lettersIn, LETTERS_MIN, visible } from '../common/words.ts'

const TRAILER =
  /^(?:[A-Z]\w*(?:-[A-Za-z]\w*)+|Fixes|Fixed|Closes|Closed|Resolves|Refs?|References|Link|Links|Bug|Issue|Related|See|Test Plan|Reviewers|BUG|PR|Cc)\s*:.*$/
const NOISE =
  /^(?:\(?cherry[- ]picked from .*|This reverts .*|git-svn-id:.*|Merge .*|[|+@-]{2,}.*|diff --git.*|index [0-9a-f]+\.\..*|\s*\d+ files? changed.*|[*•\s-]*$)/i
const LINK = /(?:\b(?:see|cf\.?)( also)? )?<?\bhttps?:\/\/[^\s>)\]]*[^\s>)\].,;:]>?/gi
const VERB = String.raw`\b(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?|refs?|references|see|issue|pr|pull request)\s*:?\s*`
const ISSUE = new RegExp(String.raw`\s*[([]?\s*(?:${VERB})?(?:[\w.-]+\/[\w.-]+)?(?:#\d+|\bGH-\d+)\s*[)\]]?`, 'gi')
const KEY = /\b[A-Z][A-Z0-9]+-\d+\b/g
const KEYS = String.raw`\b[A-Z][A-Z0-9]+-\d+(?:(?:,| and|\s)\s*[A-Z][A-Z0-9]+-\d+)*(?![\w-])`
/** What looks like a key is one where it stands as a reference alone: before a subject, in brackets, or after a verb that closes issues. */
const ISSUE_KEYS = new RegExp(
  [
    String.raw`(?<=^\s*|:\s)(?:${VERB})?${KEYS}(?::| -(?=\s)|\.(?=\s))`,
    String.raw`(?<=^|[\s\])])[([]\s*(?:${VERB})?${KEYS}\s*[)\]]:?`,
    String.raw`\b(?:fixes|fixed|close[sd]|resolve[sd]|refs?|references|see|issue)\s*:?\s*${KEYS}`,
  ].join('|'),
  'gi',
)
/** Encodings, algorithms, standards and models have names like keys. */
const STANDARD =
  /^(?:UTF|UCS|CP|KOI\d|WINDOWS|LATIN|BASE|SHA\d?|MD|CRC|HMAC|BLAKE|AES|DES|RSA|EC|ED|ISO|IEC|IEEE|ANSI|ECMA|ES|EN|DIN|FIPS|RFC|BCP|PEP|CVE|CWE|HTTP|OAUTH|TLS|IPV|MPEG|MP|GPT)-/
const COMMIT_ID = /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b/g
const KIND = /^(?:feat|fix|bug|bugfix|refactor|perf|chore|build|ci|style|test|tests|docs?|revert)(?:\([^)]*\))?!?:\s*/i
/** Tests are how it is judged, so that no prompt speaks of them. */
const OF_TESTS = /\b(?:unit |regression |integration )?(?:tests?|testing|tested|specs?|testcases?|coverage|assertions?|snapshots?)\b/i
const WITH_TESTS = /\s+(?:with|including)\s+(?:[\w-]+\s+){0,2}tests?\s*$/i
const CHARACTERS_MAX = 4000
/** What is read of a message. Patterns below look at some texts again from each of their characters. */
const READ_CHARACTERS_MAX = 10_000

/** Null where the message says too little. `paths`: the files that the commit changed. */
export function promptOf(message: string, paths: readonly string[]): string | null {
  const isHint = hintsOf(paths)
  const [subject = '', ...body] = withoutCode(visible(message.slice(0, READ_CHARACTERS_MAX)))
    .replaceAll(/[^\S\n]+/g, ' ')
    .split('\n')
  const title = clauses(withoutReferences(subject).replace(KIND, ''), isHint)
  if (lettersIn(title) === 0) return null
  const rest = body
    .filter((line) => !TRAILER.test(line.trim()) && !NOISE.test(line.trim()))
    .map(withoutReferences)
    .join('\n')
    .split(/\n\s*\n/)
    .map((paragraph) => sentences(paragraph, isHint))
    .filter((paragraph) => lettersIn(paragraph) > 0)
  if (isVague(title) && lettersIn(rest.join(' ')) < LETTERS_MIN) return null
  const text = [sentence(title), ...rest].join('\n\n').slice(0, CHARACTERS_MAX).toWellFormed().trimEnd()
  return `${text}\n\n${MINED_PROMPT_ENDS.repository}`
}

/** Code in a message is part of the change. */
const withoutCode = (text: string): string => text.replaceAll(/^(?:```|~~~)[^]*?^(?:```|~~~).*$/gm, '').replaceAll(/^(?: {4}|\t).*$/gm, '')

const withoutReferences = (line: string): string =>
  line
    .replaceAll(LINK, '')
    // Several blanks may be shared in many ways.
    .replaceAll(/ +/g, ' ')
    .replaceAll(ISSUE, ' ')
    .replaceAll(ISSUE_KEYS, (found) => (isOfIssues(found) ? ' ' : found))
    .replaceAll(COMMIT_ID, '')
    .replaceAll(/\(\s*\)/g, '')
    .replaceAll(/[\s,;:]+(?=\.(?:\s|$))/g, '')
    .replaceAll(/ +/g, ' ')
    .trim()

/** Not in small letters, as `utf-8` or `part-2` is. */
const isOfIssues = (found: string): boolean => {
  const keys = found.match(KEY) ?? []
  return keys.length > 0 && !keys.some((key) => STANDARD.test(key))
}

type IsHint = (part: string) => boolean

/** A name of a file counts as a whole: `a.js` is no hint in `data.js`. */
function hintsOf(paths: readonly string[]): IsHint {
  const names = new Set(paths.flatMap((path) => [path, path.split('/').at(-1) ?? path]))
  const telling = [...names].filter((name) => !PLAIN_WORD.test(name)).map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
  if (telling.length === 0) return (part) => OF_TESTS.test(part)
  const named = new RegExp(String.raw`(?<![\p{L}\p{N}_.-])(?:${telling.join('|')})(?![\p{L}\p{N}_/-]|\.[\p{L}\p{N}_])`, 'u')
  return (part) => OF_TESTS.test(part) || named.test(part)
}
/** A program may be called `add`, and every sentence may speak of adding. */
const PLAIN_WORD = /^[a-z]+$/

/** A subject may be about the change and its tests at once: a clause goes with what joins it to the one before. */
function clauses(subject: string, isHint: IsHint): string {
  if (!isHint(subject)) return subject
  const parts = subject.replace(WITH_TESTS, '').split(/(,\s*(?:and\s+)?|;\s*|\s+(?:and|plus|&|\+)\s+)/)
  const kept = parts.filter((_, at) => at % 2 === 0).map((text, at) => ({ text, joint: parts[2 * at - 1] ?? '' }))
  return kept
    .filter(({ text }) => !isHint(text))
    .map(({ text, joint }, at) => (at === 0 ? text : joint + text))
    .join('')
}

const sentences = (paragraph: string, isHint: IsHint): string =>
  paragraph
    .split(/(?<=[.!?])\s+|\n(?=\s*[-*•] )/)
    .filter((part) => !isHint(part))
    .join(/^\s*[-*•] /m.test(paragraph) ? '\n' : ' ')
    .trim()

const VAGUE = new Set(
  `a add added adds all and bug bugs change changed changes clean cleanup code edits file files fix fixed fixes fixing improve improved
improvements issue issues it little minor misc more of refactor refactoring small some stuff that the thing things this tweak tweaks typo typos
up update updated updates various wip work`.split(/\s+/),
)

/** "Add gcd" names what is wanted; "fix some bugs" and "wip" do not. */
function isVague(title: string): boolean {
  const words = (title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !VAGUE.has(word))
  return !words.some((word) => lettersIn(word) > 1) || (lettersIn(title) < LETTERS_MIN && !title.includes(' '))
}

const sentence = (title: string): string => {
  const text = title.replace(/[\s.,;:]+$/, '')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
