/** Programs of the machine that a test cannot do without: found, or installed once where that is allowed, and never done without. */
import { execFileSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const INSTALLER = ['apt-get', 'install', '-y'] as const

/** Where that program is. Throws one line that says how to install it. Its package may have another name. */
export function program(name: string, inPackage = name): string {
  const found = programsCalled(name)[0]
  if (found !== undefined) return found
  const problem = installed(inPackage)
  const there = programsCalled(name)[0]
  if (there !== undefined) return there
  throw new Error(`this test needs ${name}, which is not on PATH (${problem}): install it with '${[...INSTALLER, inPackage].join(' ')}'`)
}

/** Every program of that name on PATH, the one a shell would take first. */
export function programsCalled(name: string): readonly string[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder.startsWith('/'))
  return folders.map((folder) => join(folder, name)).filter(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The problem, should there be one; whether the program is there now is looked up afterwards. */
export function installed(name: string): string {
  if (process.getuid?.() !== 0) return 'only root may install it'
  try {
    const [command, ...words] = INSTALLER
    const install = (): unknown => execFileSync(command, [...words, name], { stdio: 'pipe' })
    if (!runs(install)) {
      // A machine that was just made may not have heard yet which packages there are.
      execFileSync(command, ['update'], { stdio: 'pipe' })
      install()
    }
    return 'the package of that name does not hold it'
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error)
  }
}

function runs(task: () => unknown): boolean {
  try {
    task()
    return true
  } catch {
    return false
  }
}
