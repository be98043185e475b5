/** A machine as an earlier version left it: one install with the names that were used then. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { install } from '../install.ts'
import { launcherText } from '../launcher.ts'
import { formerFolders, installFolder, stateFolders } from '../places.ts'
import { anInstallation, SERVICE_URL, transcript, type Home } from './harness-home.ts'

export interface Earlier {
  /** The harness's folder, of the former name and of the present one. */
  readonly destination: string
  readonly renamed: string
  /** The folder of its record. */
  readonly folder: string
  readonly prefix: string
}

const idOf = (path: string): string => createHash('sha256').update(path).digest('hex')

/** In a folder of that name below the home, with its program in the usual place. */
export async function installEarlier(home: Home, work = 'work'): Promise<Earlier> {
  const [renamed, destination] = [join(home.path, work, 'svc-harness'), join(home.path, work, 'reef-harness')]
  const [now, former] = [stateFolders(home.path), formerFolders(home.path)]
  const order = home.order(anInstallation(), [renamed, join(now.programs, 'agent')])
  if ((await install({ ...order, terminal: transcript() })) !== 0) throw new Error('the install failed')
  const [from, folder] = [installFolder(home.path, renamed), join(former.installs, idOf(destination))]
  mkdirSync(former.installs, { recursive: true })
  renameSync(from, folder)
  renameSync(renamed, destination)
  renameSync(join(destination, '.svc-harness-release'), join(destination, '.reef-harness-release'))
  renameSync(now.programs, former.programs)
  const record = readFileSync(join(folder, 'record.json'), 'utf8').replaceAll('svc-harness', 'reef-harness')
  writeFileSync(join(folder, 'record.json'), record)
  writeFileSync(join(folder, 'wrapper.mjs'), '// an earlier wrapper\n')
  writeFileSync(join(folder, 'svc-agent'), launcherText(folder, order.node.path, 'agent'))
  writeFileSync(join(folder, 'state', 'kept'), 'kept by the agent\n')
  const link = join(home.path, '.local/bin/svc-agent')
  rmSync(link)
  symlinkSync(join(folder, 'svc-agent'), link)
  rmSync(now.folder, { recursive: true })
  return { destination, renamed, folder, prefix: join(former.programs, 'agent') }
}

/** A session's file as it lay there. */
export function captureEarlier(home: Home, { destination }: Earlier, receipts: readonly string[]): string {
  const head = { url: SERVICE_URL, scenario: 'demo', adapter: 'agent', release_id: 'r1', destination, pid: 2 ** 30, started_at: 1 }
  const name = `${idOf('demo')}-${'1'.padStart(20, '0')}-00000000-0000-4000-8000-000000000001.jsonl`
  const path = join(formerFolders(home.path).captures, name)
  mkdirSync(dirname(path), { recursive: true })
  const lines = [{ ...head, session: name.slice(-42, -6) }, ...receipts.map((receipt) => ({ receipt }))]
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return name
}
