/** llms.txt: up to date, in the format its readers expect, with every page and no link that leads nowhere. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LLMS_PAGE, llmsPage } from '../../scripts/llms.ts'

const root = join(import.meta.dirname, '..', '..')
const links = [...llmsPage().matchAll(/^- \[([^\]]+)\]\(([^)]+)\): (.+)$/gm)].map(([, title = '', page = '', words = '']) => ({
  title,
  page,
  words,
}))

describe('llms.txt', () => {
  it('is up to date (else: npm run docs)', () => {
    expect(readFileSync(join(root, LLMS_PAGE), 'utf8') === llmsPage(), `${LLMS_PAGE} is stale; run: npm run docs`).toBe(true)
  })

  it('is a title, a sentence in a quote, notes, and sections of links', () => {
    expect(llmsPage()).toMatch(/^# svc\n\n> \S.+\.\n\n(?:- .+\n)+\n## Start\n\n- \[/)
    expect([...llmsPage().matchAll(/^## (.+)$/gm)].map(([, group]) => group)).toEqual(['Start', 'Guides', 'Reference', 'Extend', 'Project'])
    expect(llmsPage()).toContain('/openapi.json')
  })

  it('lists every page once, with a sentence that ends', () => {
    const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).filter((page) => !/^docs\/decisions\/\d/.test(page))
    expect(links.map(({ page }) => page).toSorted()).toEqual(pages.toSorted())
    expect(links.filter(({ words }) => !/^[^\n[\]|]+[.?!]$/.test(words))).toEqual([])
  })

  it('links to what is there', () => {
    expect(links.filter(({ page }) => !existsSync(join(root, page)))).toEqual([])
  })
})
