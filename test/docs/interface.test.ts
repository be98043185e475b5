/** The interface page names everything the code can answer: a route or a code that is added without a word there fails here. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { routes } from '../../src/http/routes.ts'

const root = join(import.meta.dirname, '..', '..')
const page = readFileSync(join(root, 'docs/interface.md'), 'utf8')

const CODE = /\b(?:invalid|unknown|conflict|unsupported|upstream|unavailable|Refusal\('\w+',|super\('\w+',)\s*\(?\s*'([a-z]+(?:_[a-z]+)+)'/g

function codesOf(file: string): readonly string[] {
  return [...readFileSync(join(root, file), 'utf8').matchAll(CODE)].map(([, code = '']) => code)
}

describe('docs/interface.md', () => {
  it('lists every route of the table', () => {
    const missing = routes
      .map(({ method, path }) => `\`${method} ${path.replaceAll(/\/:(\w+)/g, '/{$1}')}\``)
      .filter((route) => !page.includes(`| ${route} |`))
    expect(missing).toEqual([])
  })

  it('lists no route that is not there', () => {
    const known = new Set(routes.map(({ method, path }) => `${method} ${path.replaceAll(/\/:(\w+)/g, '/{$1}')}`))
    const listed = [...page.matchAll(/^\| `((?:GET|POST|DELETE) [^`?]+)` \| /gm)].map(([, route = '']) => route)
    expect(listed.filter((route) => !known.has(route))).toEqual([])
  })

  it('names every code a refusal can carry', () => {
    // Output of commands is not part of the interface.
    const files = globSync(['src/**/*.ts', 'plugins/**/*.ts'], { cwd: root }).filter((file) => !/\.test\.ts$|testing|^src\/cli/.test(file))
    const codes = new Set(files.flatMap(codesOf))
    expect(codes.size).toBeGreaterThan(50)
    expect([...codes].filter((code) => !page.includes(`\`${code}\``))).toEqual([])
  })
})
