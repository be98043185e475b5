/** The tasks of a run: copied whole, but for the rules that the repository held at the time. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { layoutOf } from './agents.ts'
import { copyTasks } from './tasks.ts'

const PATHS = ['CLAUDE.md', '.claude/skills/a/SKILL.md', 'packages/one/CLAUDE.md', 'packages/one/code.js', 'packages/two/CLAUDE.md']

async function copied(below?: string): Promise<readonly string[]> {
  const [from, to] = [temporaryFolder(), join(temporaryFolder(), 'tasks')]
  for (const path of ['task.yaml', 'verify/tests/CLAUDE.md', ...PATHS.map((each) => `workspace/${each}`)]) {
    mkdirSync(dirname(join(from, 'one', path)), { recursive: true })
    writeFileSync(join(from, 'one', path), path === 'task.yaml' ? 'prompt: x' : 'x')
  }
  const places = layoutOf('claude')?.places
  if (places === undefined) throw new Error('there is no such agent')
  await copyTasks(from, to, places, below)
  expect(['task.yaml', 'verify/tests/CLAUDE.md'].every((path) => existsSync(join(to, 'one', path)))).toBe(true)
  return PATHS.filter((path) => existsSync(join(to, 'one/workspace', path)))
}

it('leave out the rules and skills at the top, and those of the folder that is improved', async () => {
  expect(await copied()).toEqual(['packages/one/CLAUDE.md', 'packages/one/code.js', 'packages/two/CLAUDE.md'])
  expect(await copied('packages/one/')).toEqual(['packages/one/code.js', 'packages/two/CLAUDE.md'])
})

it('are read before anything is copied, so that a folder that was named by mistake is left where it is', async () => {
  const [from, to] = [temporaryFolder(), join(temporaryFolder(), 'tasks')]
  mkdirSync(join(from, 'photos'))
  writeFileSync(join(from, 'photos/one.jpg'), 'x')
  const places = layoutOf('claude')?.places ?? { rules: [], skill: [], agent_command: [] }
  await expect(copyTasks(from, to, places)).rejects.toMatchObject({ code: 'task_invalid' })
  expect(readdirSync(dirname(to))).toEqual([])
})
