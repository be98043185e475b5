/** A document as the site shows it. HTML in a document is shown as text: only markdown becomes markup. */
import { lexer, Parser, Renderer, type MarkedToken, type Token, type Tokens } from 'marked'
import { Html, markup } from '../src/pages/html.ts'
import { codeMarkup } from './code.ts'

export interface Heading {
  readonly depth: number
  readonly text: string
  /** As the links of the documents name it. */
  readonly anchor: string
}

interface Section {
  /** Null for what stands before the first heading of the second level. */
  readonly heading: Heading | null
  readonly text: string
}

export interface MarkdownPage {
  readonly title: string
  readonly headings: readonly Heading[]
  readonly sections: readonly Section[]
  markup(links: Links): Html
}

/** What the places that a page names become on the site. */
export interface Links {
  link(href: string): string
  image(href: string): { readonly light: string; readonly dark: string | null }
  /** A file of the repository that is named as code, such as an example; null where it is none. */
  file(path: string): string | null
}

export function readMarkdown(text: string, path: string): MarkdownPage {
  const tokens = lexer(text)
  const headings = new Map<Token, Heading>()
  const anchors = new Map<string, number>()
  for (const token of tokens) if (isOf(token, 'heading')) headings.set(token, headingOf(token, anchors))
  const [title] = headings.values()
  if (title?.depth !== 1) throw new Error(`${path} has no title; begin it with one`)
  return {
    title: title.text,
    headings: [...headings.values()],
    sections: sectionsOf(tokens, headings),
    markup: (links) => new Html(Parser.parse(tokens, { renderer: new SiteRenderer(headings, links) })),
  }
}

const isOf = <T extends MarkedToken['type']>(token: Token, type: T): token is Extract<MarkedToken, { type: T }> => token.type === type

/** As the places that show the repository do it: a second heading of the same words gets a number. */
function headingOf(token: Tokens.Heading, anchors: Map<string, number>): Heading {
  const text = plainText(token.tokens)
  const slug = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
  const count = anchors.get(slug) ?? 0
  anchors.set(slug, count + 1)
  return { depth: token.depth, text, anchor: count === 0 ? slug : `${slug}-${count}` }
}

function sectionsOf(tokens: readonly Token[], headings: ReadonlyMap<Token, Heading>): readonly Section[] {
  const sections: { heading: Heading | null; words: string[] }[] = [{ heading: null, words: [] }]
  for (const token of tokens) {
    const heading = headings.get(token)
    if (heading === undefined) sections.at(-1)?.words.push(plainText([token]))
    else if (heading.depth > 1) sections.push({ heading, words: [] })
  }
  return sections.map(({ heading, words }) => ({ heading, text: words.join(' ').replaceAll(/\s+/g, ' ').trim() }))
}

const COMMENT = /^<!--[\s\S]*-->\s*$/

/** What a person reads of it. */
function plainText(tokens: readonly Token[]): string {
  return tokens.map(textOf).join('')
}

function textOf(token: Token): string {
  if (isOf(token, 'table'))
    return token.header
      .concat(...token.rows)
      .map(wordsOf)
      .join(' ')
  if (isOf(token, 'list')) return token.items.map(wordsOf).join(' ')
  if (isOf(token, 'html')) return COMMENT.test(token.text) ? '' : token.text
  if ('tokens' in token && token.tokens !== undefined) return plainText(token.tokens)
  if ('text' in token && typeof token.text === 'string') return token.text
  return ' '
}

const wordsOf = ({ tokens }: { readonly tokens: readonly Token[] }): string => plainText(tokens)

class SiteRenderer extends Renderer {
  readonly #headings: ReadonlyMap<Token, Heading>
  readonly #links: Links

  constructor(headings: ReadonlyMap<Token, Heading>, links: Links) {
    super()
    this.#headings = headings
    this.#links = links
  }

  /** A link to itself, so that a person can copy the address of a section. */
  override heading(token: Tokens.Heading): string {
    const { depth, tokens } = token
    const anchor = this.#headings.get(token)?.anchor ?? ''
    const words = this.#inline(tokens)
    if (depth === 1) return `<h1>${words}</h1>\n`
    return `<h${depth} id="${shown(anchor)}">${words} <a class="anchor" href="#${shown(encodeURIComponent(anchor))}" aria-label="Link to this section">#</a></h${depth}>\n`
  }

  /** Wide content scrolls by itself, which keys must be able to do too. */
  override code({ text, lang = '' }: Tokens.Code): string {
    return `<pre tabindex="0"><code>${codeMarkup(text, lang).text}</code></pre>\n`
  }

  override codespan({ text }: Tokens.Codespan): string {
    const code = `<code>${shown(text)}</code>`
    const href = this.#links.file(text)
    return href === null ? code : `<a href="${shown(href)}">${code}</a>`
  }

  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return COMMENT.test(text) ? '' : shown(text)
  }

  override link({ href, tokens }: Tokens.Link): string {
    return `<a href="${shown(this.#links.link(href))}">${this.#inline(tokens)}</a>`
  }

  override image({ href, text }: Tokens.Image): string {
    const { light, dark } = this.#links.image(href)
    const picture = `<img src="${shown(light)}" alt="${shown(text)}" loading="lazy">`
    if (dark === null) return picture
    return `<picture><source srcset="${shown(dark)}" media="(prefers-color-scheme: dark)">${picture}</picture>`
  }

  /** A cell of the head without words is no heading, which a screen reader would announce. */
  override table({ header, rows }: Tokens.Table): string {
    const cell = ({ header: isHead, text, tokens }: Tokens.TableCell): string => {
      const name = isHead && text.trim() !== '' ? 'th' : 'td'
      return `<${name}>${this.#inline(tokens)}</${name}>`
    }
    const line = (cells: readonly Tokens.TableCell[]): string => `<tr>${cells.map(cell).join('')}</tr>`
    const head = header.every(({ text }) => text.trim() === '') ? '' : `<thead>${line(header)}</thead>`
    return `<div class="wide" tabindex="0"><table>${head}<tbody>${rows.map(line).join('\n')}</tbody></table></div>\n`
  }

  #inline(tokens: Token[]): string {
    return this.parser.parseInline(tokens)
  }
}

const shown = (text: string): string => markup`${text}`.text
