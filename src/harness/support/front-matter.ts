/** Front matter of skills and commands: parsed strictly, and printed again from what was parsed, so that every agent reads what was judged. */
import { CST, isMap, isScalar, isSeq, Lexer, parseDocument } from 'yaml'
import { invalid, isObject, type Adapter, type Draft, type Entry, type Files, type Json, type JsonObject } from '../../contract/index.ts'
import { firstCodePoints } from '../../kit/index.ts'
import { escapedSigns } from './print.ts'
import { WHY } from './settings.ts'

const DESCRIPTION_CHARACTERS_MAX = 200
const KINDS = ['skill', 'agent_command'] as const

/** Throws for front matter that the agent would not accept. */
export type HeadCheck = (entry: Entry, head: JsonObject) => void

/** The texts of a draft by path, each with checked front matter: where there is none, with a name and a description. */
export function headed({ layout }: Pick<Adapter, 'layout'>, { entries, files }: Draft, checks: readonly HeadCheck[] = []): Files {
  const texts = KINDS.flatMap((kind) =>
    entries
      .filter(({ name }) => name === kind)
      .map((entry): [string, string] => {
        const name = textIn(entry, 'name')
        const path = (layout.named[kind] ?? '').replaceAll('{name}', () => name)
        return [path, withFrontMatter(entry, files[path] ?? '', [refuseOtherName, ...checks])]
      }),
  )
  return Object.fromEntries(texts)
}

/** Admission guarantees that name and text are strings. */
function textIn({ config }: Entry, field: string): string {
  const value = config[field]
  return typeof value === 'string' ? value : ''
}

/** The text below front matter that is printed from its values. */
export function withFrontMatter(entry: Entry, text: string, checks: readonly HeadCheck[] = []): string {
  const name = textIn(entry, 'name')
  if (!beginsLikeHead(text)) return `${printHead({ name, description: descriptionOf(name, text) })}\n${text}`
  const parsed = split(text)
  if (typeof parsed === 'string') throw badHead(entry, parsed)
  for (const check of checks) check(entry, parsed.head)
  return `${printHead(parsed.head)}${parsed.body}`
}

const badHead = ({ id }: Entry, problem: string): Error => invalid('bad_front_matter', `${id}: ${problem}`)

/** What some agent takes for the beginning of front matter: they differ in what may come before it, and in its marks. */
export const beginsLikeHead = (text: string): boolean => /^[\s\p{Cc}\p{Cf}]*(?:---|\+\+\+)/u.test(text)

/** The fields of a text's front matter, or null where it cannot be read. */
export function headIn(text: string): JsonObject | null {
  const parsed = split(text)
  return typeof parsed === 'string' ? null : parsed.head
}

interface SplitText {
  readonly head: JsonObject
  readonly body: string
}

/** Agents differ in what ends front matter: here the first line that begins with `---`, which must hold nothing else. */
const SHAPE = /^---\r?\n((?:(?!---).*\r?\n)+)---(?:\r?\n|$)/
/** Some parsers take these for the end of a line. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROLS = /[\0-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\ufeff]/

/** The parts of a text, or why its front matter is refused. */
function split(text: string): SplitText | string {
  const [whole, yaml = ''] = SHAPE.exec(text) ?? []
  if (whole === undefined || CONTROLS.test(yaml))
    return 'the front matter is not a YAML mapping between two lines of ---; fix it, or begin the text with a word'
  const body = text.slice(whole.length)
  if (beginsLikeHead(body)) return 'the text below the front matter begins like another; begin it with a word'
  const head = mappingIn(yaml.replaceAll('\r\n', '\n'))
  return typeof head === 'string' ? `the front matter ${head}` : { head, body }
}

const TOKENS: ReadonlySet<string | null> = new Set([
  'doc-mode',
  'space',
  'newline',
  'scalar',
  'single-quoted-scalar',
  'double-quoted-scalar',
  'block-scalar-header',
  'map-value-ind',
  'seq-item-ind',
  'flow-map-start',
  'flow-map-end',
  'flow-seq-start',
  'flow-seq-end',
  'comma',
])

function mappingIn(yaml: string): JsonObject | string {
  if (!hasPlainTokens(yaml)) return 'must hold no comment, anchor, alias, tag, directive or explicit key; quote the value, or write it out'
  const document = parseDocument(yaml, {
    version: '1.2',
    schema: 'core',
    merge: false,
    uniqueKeys: true,
    strict: true,
    prettyErrors: false,
  })
  if (document.errors.length > 0 || document.warnings.length > 0) return 'is not valid YAML, or has a field twice; fix it'
  if (!isMap(document.contents)) return 'must be a YAML mapping; fix or remove it'
  return valueOf(document.contents, 0)
}

/** A scalar's mark comes before its text, which may be anything. */
function hasPlainTokens(yaml: string): boolean {
  const tokens = [...new Lexer().lex(yaml)]
  return tokens.every((token, index) => tokens[index - 1] === CST.SCALAR || TOKENS.has(CST.tokenType(token)))
}

const DEPTH_MAX = 4
const FIELD = /^[A-Za-z][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*$/

/** A mapping as data, or the rule it breaks. */
function valueOf(node: unknown, depth: number): JsonObject | string {
  if (!isMap(node) || depth > DEPTH_MAX) return 'is nested too deep; write less'
  const fields: [string, Json][] = []
  for (const { key, value } of node.items) {
    const name = isScalar(key) && typeof key.value === 'string' ? key.value : ''
    if (!FIELD.test(name)) return "has a field whose name is not letters, digits, '_' and single '-'; rename it"
    const member = memberOf(value, depth + 1)
    if ('problem' in member) return `${member.problem.startsWith('is') ? '' : `has ${name}, which `}${member.problem}`
    fields.push([name, member.value])
  }
  return Object.fromEntries(fields)
}

type Member = { readonly value: Json } | { readonly problem: string }

function memberOf(node: unknown, depth: number): Member {
  if (isScalar(node)) return scalarOf(node.value, node.source ?? '')
  if (!isSeq(node)) {
    const value = valueOf(node, depth)
    return typeof value === 'string' ? { problem: value } : { value }
  }
  const members = node.items.map((item) => (isScalar(item) ? scalarOf(item.value, item.source ?? '') : NOT_FLAT))
  const problem = members.find((member) => 'problem' in member)
  return problem ?? { value: members.flatMap((member) => ('value' in member ? [member.value] : [])) }
}

const NOT_FLAT: Member = { problem: 'is a list of lists or mappings; write single values' }

/** A number is printed as it is written, or it is refused. */
function scalarOf(value: unknown, source: string): Member {
  if (typeof value === 'string' || typeof value === 'boolean') return { value }
  if (typeof value === 'number' && Number.isFinite(value) && String(value) === source) return { value }
  return { problem: value === null ? 'is empty; give it a value or remove it' : 'is a number that loses digits; quote it' }
}

const printHead = (head: JsonObject): string =>
  `---\n${Object.entries(head)
    .map(([field, value]) => `${field}: ${printValue(value)}\n`)
    .join('')}---\n`

/** JSON with a space after each sign, which every version of YAML reads the same. */
function printValue(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => printValue(item)).join(', ')}]`
  if (isObject(value)) {
    const members = Object.entries(value).map(([field, member]) => `${printText(field)}: ${printValue(member)}`)
    return `{${members.join(', ')}}`
  }
  return typeof value === 'string' ? printText(value) : JSON.stringify(value)
}

/** Claude Code ends front matter at the first `---`, also within a line. */
function printText(text: string): string {
  return escapedSigns(JSON.stringify(text)).replaceAll('---', String.raw`--\u002d`)
}

function descriptionOf(name: string, text: string): string {
  const line = text
    .split('\n')
    .map((each) => each.replace(/^#+/, '').trim())
    .find((each) => each !== '')
  return firstCodePoints(line ?? name, DESCRIPTION_CHARACTERS_MAX)
}

/** Agents use the name in the front matter; the service uses the folder's. */
export function refuseOtherName(entry: Entry, { name }: JsonObject): void {
  const folder = textIn(entry, 'name')
  if (name !== undefined && name !== folder)
    throw invalid('bad_front_matter', `${entry.id}: name in the front matter must be ${folder}, as config.name says`)
}

export function refuseUndescribed({ id }: Entry, { description }: JsonObject): void {
  if (typeof description !== 'string' || description.trim() === '')
    throw invalid('bad_front_matter', `${id}: the front matter needs a description; the agent does not offer a skill without one`)
}

/** However it is spelled: agents differ in the case and the joints of a name that they accept. */
export function refuseHeadField(field: string, why: string): HeadCheck {
  return ({ id }, head) => {
    if (Object.keys(head).some((name) => name.replaceAll(/[-_]/g, '').toLowerCase() === field))
      throw invalid('setting_refused', `${id}: ${field} in the front matter is refused: ${why}`)
  }
}

export const refuseModel = refuseHeadField('model', WHY.namesModel)
