/** Reads a configuration file into values, each with its line. Only the spelling of keys is checked here. */
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Document,
  type Pair,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
import { interpolate, type Environment } from './interpolate.ts'
import { isOwnName, isSection, kindAt, spelling, takesNull, unknownKeyProblem } from './keys.ts'
import type { GivenValue, ValueOrigin } from './problem.ts'
import { readValue } from './values.ts'

/** Far above any real file; recursive and exploding aliases end here. */
const ALIASES_MAX = 100

export function readFileText(text: string, fileName: string, environment: Environment): Pick<Reader, 'given' | 'problems'> {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false })
  const faults = document.errors.map((error) => `${fileName}:${lines.linePos(error.pos[0]).line}: ${syntaxProblem(error)}`)
  if (faults.length > 0) return { given: [], problems: faults }
  const reader = new Reader(document, lines, fileName, environment)
  reader.readRoot()
  return reader
}

/** The parser's message up to where it quotes the file, which may hold a secret. */
function syntaxProblem(error: YAMLError): string {
  return `not valid YAML: ${error.message.split(/[:"\n]/, 1).join('')}`
}

type Path = readonly string[]

class Reader {
  readonly given: GivenValue[] = []
  readonly problems: string[] = []
  readonly #document: Document.Parsed
  readonly #lines: LineCounter
  readonly #fileName: string
  readonly #environment: Environment
  #aliases = 0

  constructor(document: Document.Parsed, lines: LineCounter, fileName: string, environment: Environment) {
    this.#document = document
    this.#lines = lines
    this.#fileName = fileName
    this.#environment = environment
  }

  readRoot(): void {
    const root = this.#resolve(this.#document.contents)
    if (isMap(root)) this.#readMap(root, [])
    else if (root !== null && !(isScalar(root) && root.value === null)) this.#refuse(1, 'the file must hold sections of keys, such as svc:')
  }

  #readMap(map: YAMLMap, path: Path): void {
    const seen = new Map<string, { readonly written: string; readonly line: number }>()
    for (const pair of map.items) {
      const written = keyText(pair)
      const name = spelling(path, written)
      const line = this.#lineOf(pair.key)
      const earlier = seen.get(name)
      if (earlier !== undefined) this.#refuseTwice(path, written, line, earlier)
      else this.#readMember(pair, [...path, name], line)
      if (earlier === undefined) seen.set(name, { written, line })
    }
  }

  #readMember(pair: Pair, path: Path, line: number): void {
    const unknown = unknownKeyProblem(path)
    if (unknown !== null) return this.#refuse(line, unknown)
    const node = this.#resolve(pair.value)
    if (isSection(path)) return this.#readSection(node, path, line)
    if (isWrittenNull(node) && takesNull(path)) return void this.given.push({ path, value: null, origin: originOf(line) })
    const value = this.#valueOf(node, path, line)
    // An empty value counts as an absent key.
    if (value !== null && value !== undefined) this.given.push({ path, value, origin: originOf(line) })
  }

  #readSection(node: unknown, path: Path, line: number): void {
    // An empty recipe is still a recipe.
    if (isOwnName(path)) this.given.push({ path, value: {}, origin: originOf(line) })
    if (isMap(node)) return this.#readMap(node, path)
    const isEmpty = node === null || (isScalar(node) && node.value === null)
    if (!isEmpty) this.#refuse(line, `${path.join('.')} must be a section with keys of its own`)
  }

  #valueOf(node: unknown, path: Path, line: number): unknown {
    if (isSeq(node)) return node.items.map((item) => this.#scalar(this.#resolve(item), path, line, true))
    return this.#scalar(node, path, line, false)
  }

  #scalar(node: unknown, path: Path, line: number, isItem: boolean): unknown {
    // Content is kept as it is written.
    if (isMap(node) && (isItem || kindAt(path) === 'json')) return node.toJS(this.#document)
    if (isMap(node) || isSeq(node)) return {}
    const value = isScalar(node) ? node.value : null
    if (typeof value !== 'string') return value
    const answer = interpolate(value, this.#environment)
    if (answer.kind === 'plain') return value
    if (answer.kind === 'filled') return answer.text === '' ? null : readValue(answer.text, isItem ? 'text' : kindAt(path))
    this.#refuse(line, `${path.join('.')} ${answer.problem}`)
    return null
  }

  #refuseTwice(path: Path, written: string, line: number, earlier: { readonly written: string; readonly line: number }): void {
    const key = [...path, written].join('.')
    const problem =
      earlier.written === written ? `${key} is given twice` : `${key} and ${[...path, earlier.written].join('.')} are the same key`
    this.#refuse(line, `${problem}, first on line ${earlier.line}; keep one`)
  }

  #refuse(line: number, problem: string): void {
    this.problems.push(`${this.#fileName}:${line}: ${problem}`)
  }

  #resolve(node: unknown): unknown {
    if (!isAlias(node)) return node
    this.#aliases += 1
    if (this.#aliases <= ALIASES_MAX) return node.resolve(this.#document)
    if (this.#aliases === ALIASES_MAX + 1) this.#refuse(this.#lineOf(node), `more than ${ALIASES_MAX} aliases; does one repeat itself?`)
    return null
  }

  #lineOf(node: unknown): number {
    const start = isNode(node) ? node.range?.[0] : undefined
    return start === undefined ? 1 : this.#lines.linePos(start).line
  }
}

/** The word null, not a key without a value. */
const isWrittenNull = (node: unknown): boolean => isScalar(node) && node.value === null && (node.source ?? '') !== ''

const originOf = (line: number): ValueOrigin => `file:${line}`

function keyText(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : '?'
}
