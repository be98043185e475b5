/** The demonstration: a small repository with rules, and tasks that the built-in mock model gets wrong until it is told how. */
import { access, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { TaskRole } from '../contract/index.ts'
import { mkdirp, writeAtomicFile } from '../kit/index.ts'

const RULES = `# Answers

State the final answer alone on the last line.
`

const NUMERALS: Readonly<Partial<Record<TaskRole, readonly number[]>>> = {
  train: [14, 49, 94, 444],
  gate: [4, 19, 40, 42, 43, 46, 48, 54, 59, 64, 69, 74, 79, 84],
  sealed: [9, 44, 99, 149],
}

/** The folder of the repository. One that is there already is used as it is. */
export async function makeSample(folder: string): Promise<string> {
  const repository = join(folder, 'sample')
  const rules = join(repository, 'AGENTS.md')
  const isThere = await access(rules).then(
    () => true,
    () => false,
  )
  if (!isThere) await writeAtomicFile(rules, RULES)
  return repository
}

/** One folder per task, as `evolution.tasks_dir` reads them. */
export async function makeSampleTasks(folder: string): Promise<string> {
  const tasks = join(folder, 'sample-tasks')
  for (const [role, numbers] of Object.entries(NUMERALS))
    for (const number of numbers) {
      const task = join(tasks, `roman-${number}`)
      await mkdirp(task)
      await writeFile(join(task, 'task.yaml'), stringify({ role, answer: romanOf(number), prompt: `Write ${number} as a Roman numeral.` }))
    }
  return tasks
}

const SIGNS = Object.entries({ M: 1000, CM: 900, D: 500, CD: 400, C: 100, XC: 90, L: 50, XL: 40, X: 10, IX: 9, V: 5, IV: 4, I: 1 })

function romanOf(number: number): string {
  let left = number
  return SIGNS.map(([sign, value]) => {
    const times = Math.floor(left / value)
    left -= times * value
    return sign.repeat(times)
  }).join('')
}
