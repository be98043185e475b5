/** Before any test of a run: what its files need of the machine is there, or one line says what is not. That line is said again at the end. */
import { relative } from 'node:path'
import type { TestProject } from 'vitest/node'
import { needsOf } from './list.ts'
import { lineOf } from './missing.ts'
import { getReady } from './ready.ts'

export default async function setup(project: TestProject): Promise<() => void> {
  const files = project.vitest.state.getPaths().map((path) => relative(project.vitest.config.root, path))
  // Titles are counted without running a test.
  const missing = process.env['TEST_TITLES'] === undefined ? await getReady(needsOf(files)) : {}
  project.provide('missing', missing)
  return () => {
    if (Object.keys(missing).length > 0) process.stderr.write(`${lineOf(missing)}\n`)
  }
}
