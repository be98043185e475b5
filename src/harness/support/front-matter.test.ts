import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { Entry } from '../../contract/index.ts'
import { beginsLikeHead, headIn, refuseOtherName, withFrontMatter } from './front-matter.ts'

const entry = (text: string): Entry => ({ id: 'mine', name: 'skill', config: { name: 'a', text } })
const served = (text: string): string => withFrontMatter(entry(text), text)
const inHead = (fields: string): string => `---\n${fields}\n---\nBody.`

/** How the agents find the head of a file, as their programs do it, and the body below it. */
const READERS: Readonly<Record<string, (text: string) => readonly [yaml: string, body: string]>> = {
  claude(text) {
    const [whole = '', yaml = ''] = /^---\s*\n([\s\S]*?)---\s*\n?/.exec(text) ?? []
    return [yaml, text.slice(whole.length)]
  },
  pi(text) {
    const normal = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n')
    const end = normal.indexOf('\n---', 3)
    return [normal.slice(4, end), normal.slice(end + 4)]
  },
  opencode(text) {
    const end = text.indexOf('\n---')
    return [text.slice(3, end), text.slice(end + 4)]
  },
  lines(text) {
    const lines = text.split('\n')
    const end = lines.findIndex((line, index) => index > 0 && line.trim() === '---')
    return [lines.slice(1, end).join('\n'), lines.slice(end + 1).join('\n')]
  },
}

describe('front matter that is served', () => {
  it.each<[what: string, fields: string, values: object]>([
    ['a description with a colon', 'description: "one: two"', { description: 'one: two' }],
    ['a country', 'description: no', { description: 'no' }],
    ['a switch', 'user-invocable: false', { 'user-invocable': false }],
    ['an old switch', 'user-invocable: off', { 'user-invocable': 'off' }],
    ['a whole number', 'effort: 3', { effort: 3 }],
    ['a time', 'version: 12:30:45', { version: '12:30:45' }],
    ['a date', 'version: 2026-01-02', { version: '2026-01-02' }],
    ['a block of lines', 'description: |\n  one\n  # two\n  &three', { description: 'one\n# two\n&three\n' }],
    ['a folded block', 'description: >-\n  one\n  two', { description: 'one two' }],
    ['three hyphens in a value', 'description: "x --- allowed-tools"', { description: 'x --- allowed-tools' }],
    ['many hyphens in a value', 'description: "x ------- y"', { description: 'x ------- y' }],
    ['a hidden end of a line', 'description: "x\\u2028---\\u2028y\\Nz"', { description: 'x\u2028---\u2028y\u0085z' }],
    ['a list', 'allowed-tools:\n  - Read\n  - "Bash(*)"', { 'allowed-tools': ['Read', 'Bash(*)'] }],
    ['a list on one line', 'allowed-tools: [Read, "x, y"]', { 'allowed-tools': ['Read', 'x, y'] }],
    ['a mapping', 'metadata:\n  short-description: yes', { metadata: { 'short-description': 'yes' } }],
    ['an escape', 'description: "\\x41\\u00e9\\U0001F600"', { description: 'Aé😀' }],
    ['quotes', `description: 'it''s "so"'`, { description: `it's "so"` }],
  ])('%s is the same for every agent', (_, fields, values) => {
    const text = served(inHead(fields))
    expect(headIn(inHead(fields))).toEqual(values)
    expect(served(text)).toBe(text)
    for (const read of Object.values(READERS)) {
      const [yaml, body] = read(text)
      for (const version of ['1.1', '1.2'] as const) expect(parse(yaml, { version })).toEqual(values)
      expect(body.trim()).toBe('Body.')
    }
  })

  it.each<[what: string, text: string]>([
    ['no head', 'Body.'],
    ['a first line with three hyphens in it', 'One --- two\n---\nhooks: x\n---\nBody.'],
    ['a first line that YAML reads as something else', '- no: [yes'],
    ['a first line with quotes and a backslash', 'a "b" \\ c'],
    ['a long first line', '😀'.repeat(300)],
  ])('where a text has %s is a name and a description', (_, body) => {
    const text = served(body)
    for (const read of Object.values(READERS)) {
      const [yaml, rest] = read(text)
      expect(Object.keys(parse(yaml))).toEqual(['name', 'description'])
      expect(rest.trim()).toBe(body)
    }
  })

  it('ends its lines in one way', () => {
    expect(served('---\r\nname: a\r\n---\r\ntext')).toBe('---\nname: "a"\n---\ntext')
  })
})

describe('front matter is refused [trust.front-matter]', () => {
  it.each<[what: string, text: string]>([
    ['an anchor', inHead('description: &x d')],
    ['an alias', inHead('description: *x')],
    ['a merge key', inHead('<<: {hooks: x}')],
    ['a merge key of an alias', inHead('a: &x {hooks: y}\n<<: *x')],
    ['a quoted merge key', inHead('"<<": {hooks: x}')],
    ['a tag', inHead('description: !!str d')],
    ['a tag that runs code', inHead('description: !!js/function "x"')],
    ['a local tag', inHead('description: !x d')],
    ['a verbatim tag', inHead('description: !<tag:yaml.org,2002:str> d')],
    ['a comment', inHead('description: d # hooks')],
    ['a comment of its own', inHead('# hooks: x\ndescription: d')],
    ['a field twice', inHead('description: a\ndescription: b')],
    ['a field twice, once in quotes', inHead('description: a\n"description": b')],
    ['a field twice, once escaped', inHead('description: a\n"descripti\\u006fn": b')],
    ['a field twice in a mapping', inHead('metadata: {a: 1, a: 2}')],
    ['a directive', inHead('%YAML 1.1\ndescription: d')],
    ['another document', inHead('description: d\n...\nhooks: x')],
    ['another document below', '---\ndescription: d\n--- \nhooks: x\n---\nBody.'],
    ['an explicit key', inHead('? description\n: d')],
    ['a list as key', inHead('[a]: d')],
    ['a number as key', inHead('1: d')],
    ['null as key', inHead('null: d')],
    ['a switch as key', inHead('true: d')],
    ['a key with a dot', inHead('a.b: d')],
    ['a key with a space', inHead('allowed tools: d')],
    ['a prototype', inHead('__proto__: {hooks: x}')],
    ['a key with other letters', inHead('hооks: x')],
    ['a key with hyphens', inHead('a---b: x')],
    ['an empty value', inHead('description:')],
    ['null', inHead('description: ~')],
    ['a number that loses digits', inHead('version: 1.10')],
    ['a large number', inHead('version: 12345678901234567890')],
    ['a hexadecimal number', inHead('version: 0x10')],
    ['infinity', inHead('version: .inf')],
    ['a list of mappings', inHead('hooks:\n  - a: b')],
    ['a deep mapping', inHead('a: {b: {c: {d: {e: {f: g}}}}}')],
    ['a list', inHead('- a')],
    ['a single value', inHead('a')],
    ['nothing', '---\n---\nBody.'],
    ['blank lines', '---\n\n\n---\nBody.'],
    ['no end', '---\nname: a\nBody.'],
    ['an end with a word', '---\nname: a\n---x\n---\nBody.'],
    ['an end with four hyphens', '---\nname: a\n----\nBody.'],
    ['an indented end', '---\nname: a\n ---\nBody.'],
    ['dots as end', '---\nname: a\n...\nBody.'],
    ['a byte order mark before it', '\ufeff---\nname: a\n---\nBody.'],
    ['a blank line before it', '\n---\nname: a\n---\nBody.'],
    ['spaces before it', '  ---\nname: a\n---\nBody.'],
    ['an invisible sign before it', '\u200b---\nname: a\n---\nBody.'],
    ['a control sign before it', '\u0000---\nname: a\n---\nBody.'],
    ['code for a language', '---js\nmodule.exports = {}\n---\nBody.'],
    ['code after a space', '--- js\nmodule.exports = {}\n---\nBody.'],
    ['spaces after its mark', '--- \nname: a\n---\nBody.'],
    ['TOML', '+++\nname = "a"\n+++\nBody.'],
    ['JSON after the mark', '---json\n{}\n---\nBody.'],
    ['four hyphens', '----\nname: a\n----\nBody.'],
    ['old line ends', '---\rname: a\r---\rBody.'],
    ['an old line end in a value', '---\nname: a\rhooks: x\n---\nBody.'],
    ['a next line', inHead('name: a\u0085hooks: x')],
    ['a line separator', inHead('name: a\u2028hooks: x')],
    ['a paragraph separator', inHead('name: a\u2029hooks: x')],
    ['a tab', inHead('name:\ta')],
    ['a null character', inHead('name: a\0')],
    ['a second head', '---\nname: a\n---\n---\nhooks: x\n---\nBody.'],
    ['a second head after blank lines', '---\nname: a\n---\n\n \n---\nhooks: x\n---\nBody.'],
    ['a colon in a value', inHead('description: one: two')],
    ['an open quote', inHead('description: "a')],
    ['an open list', inHead('description: [a')],
    ['wrong indentation', inHead('metadata:\n  a: b\n c: d')],
    ['a value on the next line without indentation', inHead('description:\nx')],
    ['another name', inHead('name: svc')],
    ['a name that is no text', inHead('name: [a]')],
  ])('with %s', (_, text) => {
    const check = (): string => withFrontMatter(entry(text), text, [refuseOtherName])
    expect(check).toThrow(expect.objectContaining({ code: 'bad_front_matter' }))
    expect(beginsLikeHead(text)).toBe(true)
  })
})
