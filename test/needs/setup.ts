/**
 * Before any test of a run: what its files need of the machine is there, or one line says what is not. That line is said again at the end.
 * After it: no test left data in the checkout, where the next one would find it.
 */
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { TestProject } from 'vitest/node'
import { needsOf } from './list.ts'
import { lineOf } from './missing.ts'
import { getReady } from './ready.ts'

export default async function setup(project: TestProject): Promise<() => void> {
  const files = project.vitest.state.getPaths().map((path) => relative(project.vitest.config.root, path))
  // Titles are counted without running a test.
  const missing = process.env['TEST_TITLES'] === undefined ? await getReady(needsOf(files)) : {}
  project.provide('missing', missing)
  const data = join(project.vitest.config.root, '.svc')
  const isOwn = existsSync(data)
  return () => {
    if (Object.keys(missing).length > 0) process.stderr.write(`${lineOf(missing)}\n`)
    if (!isOwn && existsSync(data)) throw new Error(`A test left ${data}. Give its service folders of its own, and remove that one.`)
  }
}
