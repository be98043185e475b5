/** Programs of the machine, by the names that a shell finds them by. */
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { isProgram } from '../needs/list.ts'
import { demand } from '../needs/missing.ts'

/** The path of a program; throws when it is missing. `test/needs` lists what is installed before the tests. */
export function program(name: string): string {
  if (isProgram(name)) demand(name)
  const found = programsCalled(name)[0]
  if (found === undefined) throw new Error(`this test needs ${name}, which is not on PATH: install it, or list it in test/needs/list.ts`)
  return found
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
