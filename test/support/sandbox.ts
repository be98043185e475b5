/** Tests that need a sandbox: where none can be made, one skipped line says how. */
import { describe, it } from 'vitest'
import sandbox from '../../plugins/executors/sandbox/index.ts'
import { program } from './programs.ts'

export async function describeSandboxed(name: string, body: () => void): Promise<void> {
  const problem = await sandboxProblem()
  if (problem === null) describe(name, body)
  else describe(name, () => it.skip(`needs a sandbox, and there is none here: ${problem}`, () => undefined))
}

async function sandboxProblem(): Promise<string | null> {
  if (process.platform === 'linux') {
    try {
      program('bwrap')
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
  return (await sandbox.plugin.check?.()) ?? null
}
