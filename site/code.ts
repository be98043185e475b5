/** Code as markup: comments, texts and keywords are marked, as far as a pattern can tell them. */
import { markup, type Html, type Piece } from '../src/pages/html.ts'

const TEXT = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/
const HASH_COMMENT = /(?<=^|\s)#.*$/
const SCRIPT =
  /\b(?:as|async|await|class|const|default|else|export|extends|for|from|function|if|import|interface|let|new|of|readonly|return|satisfies|throw|type|typeof)\b/

/** By the word after the fence. The groups are: a comment, a text, a keyword. */
const LANGUAGES: Readonly<Record<string, RegExp>> = {
  ts: patternOf(/\/\/.*$|\/\*[\s\S]*?\*\//, TEXT, SCRIPT),
  js: patternOf(/\/\/.*$|\/\*[\s\S]*?\*\//, TEXT, SCRIPT),
  json: patternOf(/(?!)/, /"(?:\\.|[^"\\\n])*"/, /\b(?:true|false|null)\b/),
  yaml: patternOf(HASH_COMMENT, TEXT, /^[ -]*[\w.-]+(?=:)/),
  toml: patternOf(HASH_COMMENT, TEXT, /^\[.*\]$|^[\w.-]+(?= *=)/),
  py: patternOf(HASH_COMMENT, TEXT, /\b(?:as|async|await|class|def|else|for|from|if|import|in|return|with)\b/),
  sh: patternOf(HASH_COMMENT, /'[^']*'|"(?:\\.|[^"\\])*"/, /\b(?:do|done|else|export|fi|for|if|then|until|while)\b/),
}
const KINDS = ['comment', 'text', 'word'] as const

function patternOf(...parts: readonly RegExp[]): RegExp {
  return new RegExp(parts.map(({ source }) => `(${source})`).join('|'), 'gm')
}

export function codeMarkup(code: string, language: string): Html {
  const pattern = LANGUAGES[language]
  return pattern === undefined ? markup`${code}` : markup`${piecesOf(code, pattern)}`
}

function piecesOf(code: string, pattern: RegExp): readonly Piece[] {
  const pieces: Piece[] = []
  let end = 0
  for (const { index, 0: found, ...groups } of code.matchAll(pattern)) {
    const kind = KINDS[[groups[1], groups[2], groups[3]].findIndex((group) => group !== undefined)]
    pieces.push(code.slice(end, index), markup`<span class="${kind ?? ''}">${found}</span>`)
    end = index + found.length
  }
  return [...pieces, code.slice(end)]
}
