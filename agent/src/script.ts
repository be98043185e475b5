/** The install script of the service, run by this program as a person's shell would. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Stop } from './failure.ts'
import { runProgram, withNode } from './programs.ts'

/** The service may be making the script, and it is not small. */
export const SCRIPT_SECONDS_MAX = 300

/** A shell reads the script to its end before any of it is run: one that ended early is no script. */
export async function runScript(script: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-update-'))
  try {
    const file = join(folder, 'install.sh')
    await writeFile(file, script, { mode: 0o600 })
    // On the Node that runs this, since the one on PATH may be another; everything else as the person has it.
    await symlink(process.execPath, join(folder, 'node'))
    const own = withNode(env, join(folder, 'node'))
    const { code } = await runProgram('sh', ['-n', file], { env: own })
    if (code !== 0 || script.trim() === '')
      throw new Stop('the install script of the service did not arrive whole; run the same command again')
    return await passedOn('sh', [file, ...args], own)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** With this terminal, and with 1 for whatever is not success. */
function passedOn(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: 'inherit' })
    child.on('error', reject)
    child.on('exit', (code) => resolve(code === 0 ? 0 : 1))
  })
}
