/** What a text can and cannot become on a page. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonMarkup, markup } from './html.ts'

/** Of all there is, halves of pairs too. */
const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0x10ffff }).map((point) => String.fromCodePoint(point)) })

const shown = (text: string): string => markup`<p>${text}</p>`.text
const asAttribute = (text: string): string => markup`<p title="${text}"></p>`.text

describe('markup', () => {
  it('shows a text as it is, and never takes it for markup', () => {
    expect(shown('<script>alert("1" & \'2\')</script>')).toBe(
      '<p>&#60;script&#62;alert(&#34;1&#34; &#38; &#39;2&#39;)&#60;/script&#62;</p>',
    )
    expect(asAttribute('" onclick="x')).toBe('<p title="&#34; onclick=&#34;x"></p>')
  })

  it('takes over what was made of it before, lists in order, and nothing for what is not there', () => {
    expect(markup`<ul>${[markup`<li>${'a<'}</li>`, null, false, 7]}</ul>`.text).toBe('<ul><li>a&#60;</li>7</ul>')
  })

  it('is ASCII, whatever the text is written in', () => {
    expect(shown('grün 漢 😀')).toBe('<p>gr&#252;n &#28450; &#128512;</p>')
  })

  it.each([
    ['turns the text around', '\u202e', 'U+202E'],
    ['isolates', '\u2066', 'U+2066'],
    ['is a mark of direction', '\u200f', 'U+200F'],
    ['has no width', '\u200b', 'U+200B'],
    ['belongs to a byte order', '\ufeff', 'U+FEFF'],
    ['controls', '\u0007', 'U+0007'],
    ['ends a line out of sight', '\r', 'U+000D'],
    ['is an invisible tag', '\u{e0041}', 'U+E0041'],
    ['is an invisible variation', '\u{e0100}', 'U+E0100'],
    ['is half a pair', '\ud800', 'U+D800'],
    ['is for private use', '\ue000', 'U+E000'],
  ])('names a character that %s', (_, hidden, name) => {
    expect(shown(`a${hidden}b`)).toBe(`<p>a<i>${name}</i>b</p>`)
    expect(asAttribute(`a${hidden}b`)).toBe(`<p title="a[${name}]b"></p>`)
  })

  it('names nine of them in a row once', () => {
    expect(shown(`a${'\u202e'.repeat(9)}b`)).toBe('<p>a<i>U+202E x9</i>b</p>')
  })

  it('leaves joiners where scripts and emoji need them, and names them where a word could hide one', () => {
    expect(shown('\u0645\u06cc\u200c\u062e')).not.toContain('<i>')
    expect(shown('\u{1f469}\u200d\u{1f4bb}')).not.toContain('<i>')
    expect(shown('ig\u200dnore')).toContain('<i>U+200D</i>')
  })

  it('makes of any text exactly one element, without a character that ends it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(shown(text)).toMatch(/^<p>(?:[^<>"'\u0080-\uffff]|<i>U\+[0-9A-F]{4,6}(?: x\d+)?<\/i>)*<\/p>$/)
        expect(asAttribute(text)).toMatch(/^<p title="[^<>"'\u0080-\uffff]*"><\/p>$/)
      }),
    )
  })
})

describe('JSON in a script block', () => {
  it('cannot end the block, is ASCII, and reads back as it was', () => {
    fc.assert(
      fc.property(fc.oneof(fc.constant('</script><!--<script>'), anyText), (text) => {
        const { text: json } = jsonMarkup(JSON.stringify({ text }))
        expect(json).toMatch(/^[^<>&\u0080-\uffff]*$/)
        expect(JSON.parse(json)).toEqual({ text })
      }),
    )
  })
})
