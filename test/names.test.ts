/** One name for one thing: an exported type name is exported by one file. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const EXPORTED = /^export (?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)/gm

it('a type name is exported by one file', () => {
  const exporters = new Map<string, Set<string>>()
  const files = globSync('{src,plugins,client,agent,native,console,conformance,learn,demo}/**/*.{ts,tsx}', { cwd: root })
  for (const file of files.filter((path) => !/\.(?:test|generated)\.tsx?$|\/dist\/|\/node_modules\//.test(path)))
    for (const [, name = ''] of readFileSync(join(root, file), 'utf8').matchAll(EXPORTED))
      exporters.set(name, (exporters.get(name) ?? new Set()).add(file))
  const shared = [...exporters].filter(([, paths]) => paths.size > 1)
  expect(exporters.size).toBeGreaterThan(500)
  expect(shared.map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)).toEqual([])
})
