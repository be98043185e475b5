/** What the names of this service's adapters begin with in an engine that others may use too: made once, and kept beside the records. */
import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LoadedConfig } from '../config/index.ts'
import { invalid } from '../contract/index.ts'
import { codeOf } from '../kit/index.ts'

const FILE = 'adapter-prefix'
const FORM = /^svc-[0-9a-f]{8}$/

/** A service that keeps nothing has another one with every start. */
export async function adapterPrefix({ config: { storage, inference } }: LoadedConfig): Promise<string> {
  if (inference.engine.adapter_prefix !== null) return inference.engine.adapter_prefix
  if (storage.record_backend === 'memory') return made()
  const path = join(storage.agent_record_dir, FILE)
  const kept = (await readFile(path, 'utf8').catch(absent)) ?? (await keep(storage.agent_record_dir, path))
  if (FORM.test(kept.trim())) return kept.trim()
  throw invalid('bad_setting', `${path} is damaged: remove it, and start the engine again, which may hold adapters of the old name`)
}

const made = (): string => `svc-${randomBytes(4).toString('hex')}`

/** Whole or not at all, and the first of several threads wins. */
async function keep(folder: string, path: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  const prefix = made()
  const draft = `${path}.${prefix}`
  try {
    await writeFile(draft, `${prefix}\n`)
    await link(draft, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
  return readFile(path, 'utf8')
}

function absent(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null
  throw error
}
