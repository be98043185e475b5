/** The console's files: open to everybody, guarded against everything they will show. */
import { describe, expect, it } from 'vitest'
import { sharedWorld } from '../support/world.ts'

const here = sharedWorld({ settings: { 'svc.token': 'a-token-nobody-sends' } })

describe('the console', () => {
  it('is a page without a token, whose scripts and styles are files of its own', async () => {
    const { status, headers, text } = await here.get('/console')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(text).not.toMatch(/<script(?![^>]*src=)|<style| style=| on[a-z]+=/)
    const named = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = '']) => path)
    expect(named.length).toBeGreaterThan(1)
    for (const path of named) {
      expect(path).toMatch(/^\/console\/[\w.-]+$/)
      const file = await here.get(path)
      expect(file.status, path).toBe(200)
      expect(file.headers['cache-control']).toContain('immutable')
    }
  })

  it('lets nothing run but its own files', async () => {
    const policy = String((await here.get('/console')).headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain("require-trusted-types-for 'script'")
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
  })

  it('serves the files of its build and nothing else', async () => {
    for (const name of ['index.html', 'nothing.js', '..%2f..%2fpackage.json', '%2e%2e', 'style.css%00'])
      expect((await here.get(`/console/${name}`)).status, name).toBe(name === '%2e%2e' ? 401 : 404)
  })
})
