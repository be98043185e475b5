/** The site of any documents: links, hostile names and hostile text. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../test/support/folder.ts'
import { buildSite } from './build.ts'

const ROOT = join(import.meta.dirname, '..')
/** What the build takes of the repository besides the documents. */
const OWN = ['site/style.css', 'site/browser/main.ts', 'site/browser/search.ts', 'src/kit/search-words.ts', 'console/src/icon.svg']

async function siteOf(documents: Readonly<Record<string, string>>) {
  const root = temporaryFolder()
  const own = Object.fromEntries(OWN.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]))
  for (const [path, text] of Object.entries({ 'docs/README.md': '# First\n\nA page.\n', ...documents, ...own })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const out = join(root, 'out')
  await buildSite(root, out)
  return { out, read: (path: string): string => readFileSync(join(out, path), 'utf8') }
}

describe('links', () => {
  it('lead to the files of the site, from any folder', async () => {
    const { read } = await siteOf({
      'docs/guides/README.md':
        '# Guides\n\n[up](../README.md), [beside](one.md#two-words), [out](https://example.org/a), [root](../../CHANGELOG.md)\n',
      'docs/guides/one.md': '# One\n\n[folder](../guides), [code](../../examples/tasks)\n\n## Two words\n\n`examples/tasks/a.ts`\n',
      'CHANGELOG.md': '# Changes\n\nNone.\n',
      'examples/tasks/a.ts': 'export const a = 1 // one\n',
    })
    const guides = read('guides/index.html')
    for (const href of ['../index.html', 'one.html#two-words', 'https://example.org/a', '../source/CHANGELOG.html'])
      expect(guides).toContain(`href="${href}"`)
    const one = read('guides/one.html')
    for (const href of ['index.html', '../source/examples/tasks.html', '../source/examples/tasks/a.ts.html'])
      expect(one).toContain(`<a href="${href}">`)
    expect(read('source/examples/tasks/a.ts.html')).toContain('<span class="comment">// one</span>')
  })

  it.each([
    ['a page', '[x](gone.md)'],
    ['a heading', '[x](README.md#gone)'],
    ['a heading of its own', '[x](#gone)'],
    ['a picture', '![x](gone.png)'],
    ['a file outside of the documents', '[x](../../../etc/passwd)'],
    ['a script', '[x](javascript:alert(1))'],
  ])('that lead to no such thing as %s stop the build, and are named', async (_, link) => {
    await expect(siteOf({ 'docs/bad.md': `# Bad\n\n${link}\n` })).rejects.toThrow(/lead nowhere:\ndocs\/bad\.md: \S+$/)
  })

  it('count a second heading of the same words', async () => {
    const { read } = await siteOf({ 'docs/twice.md': '# Twice\n\n[second](#same-1)\n\n## Same\n\n## Same\n' })
    expect(read('twice.html')).toMatch(/id="same"[\s\S]*id="same-1"/)
  })
})

describe('hostile documents', () => {
  const NAME = `a "b' <img src=x onerror=alert(1)> #1?%2e&c`

  it('with hostile names are pages under those names', async () => {
    const { out, read } = await siteOf({
      [`docs/${NAME}.md`]: '# Odd\n\n[home](README.md)\n',
      'docs/link.md': `# Link\n\n[odd](<${encodeURIComponent(NAME)}.md>)\n`,
    })
    expect(readdirSync(out)).toContain(`${NAME}.html`)
    const link = read('link.html')
    expect(link).toContain(`href="${encodeURIComponent(`${NAME}.html`).replaceAll("'", '&#39;')}"`)
    expect(link).not.toContain('<img')
  })

  it('have no markup but that of markdown', async () => {
    const script = '<script>alert(1)</script>'
    const { read } = await siteOf({
      'docs/html.md': `# A ${script} title\n\n${script}\n\nIn ${script} words \`${script}\`.\n\n| a |\n|---|\n| ${script} |\n\n\`\`\`ts\nconst a = '${script}'\n\`\`\`\n\n<!-- note -->\n`,
    })
    const page = read('html.html')
    expect(page.match(/<script[^>]*>/g)).toEqual(['<script src="site.js" defer>'])
    expect(page).not.toContain('note')
    expect(read('search-index.js')).toContain('In ')
  })

  it('with too many brackets are built all the same', async () => {
    const { read } = await siteOf({ 'docs/deep.md': `# Deep\n\n${'['.repeat(5000)}\n\n${'*'.repeat(5000)}\n` })
    expect(read('deep.html')).toContain('<h1>Deep</h1>')
  })

  it('without a title are refused by name', async () => {
    await expect(siteOf({ 'docs/untitled.md': 'No title.\n' })).rejects.toThrow('docs/untitled.md has no title; begin it with one')
  })
})

it('a picture has a dark form where there is one beside it', async () => {
  const picture = '<svg xmlns="http://www.w3.org/2000/svg"/>'
  const { read } = await siteOf({
    'docs/guides/a.md': '# A\n\n![words](../pictures/x.svg)\n\n![words](../pictures/y.svg)\n',
    'docs/pictures/x.svg': picture,
    'docs/pictures/x-dark.svg': picture,
    'docs/pictures/y.svg': picture,
  })
  const page = read('guides/a.html')
  expect(page).toContain('<source srcset="../pictures/x-dark.svg" media="(prefers-color-scheme: dark)"><img src="../pictures/x.svg"')
  expect(page).toContain('<p><img src="../pictures/y.svg" alt="words"')
  expect(read('pictures/x-dark.svg')).toBe(picture)
})
