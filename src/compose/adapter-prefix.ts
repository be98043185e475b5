/** What the names of this gateway's adapters begin with in an engine that others may use too: made once, and kept beside the records. */
import { randomBytes } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoadedConfig } from '../config/index.ts'
import { invalid, type Store } from '../contract/index.ts'
import { codeOf, mkdirp } from '../kit/index.ts'

const FILE = 'adapter-prefix'
const MADE = 'svc-'
const FORM = /^svc-[0-9a-f]{8}$/

/** Stores that one service has alone. */
const OWN_STORES: ReadonlySet<string> = new Set(['memory', 'sqlite'])
/** Longer than the lease of a process that was killed lasts. */
const WAIT_MS = 15_000
const ASK_AGAIN_MS = 250

/** Gateways of one deployment have one configuration, and an adapter of one is a stranger's to the others: each adds its own name to the prefix. */
export async function adapterPrefix(loaded: LoadedConfig): Promise<string> {
  const { storage, inference } = loaded.config
  const { adapter_prefix: configured } = inference.engine
  if (configured === null) return storage.record_backend === 'memory' ? made() : keptPrefix(loaded)
  return OWN_STORES.has(storage.record_backend) ? configured : `${configured}-${(await keptPrefix(loaded)).slice(MADE.length)}`
}

/** The names are this gateway's alone, as long as its store is open: another one would unload what this one serves. */
export async function holdAdapterNames(store: Pick<Store, 'lease'>, prefix: string, waitMs = WAIT_MS): Promise<void> {
  for (let waited = 0; (await store.lease(`engine-names:${prefix}`)) === null; waited += ASK_AGAIN_MS) {
    if (waited >= waitMs)
      throw invalid(
        'bad_setting',
        `another gateway loads adapters under the name ${prefix}: give each gateway a storage.agent_record_dir of its own`,
      )
    await sleep(ASK_AGAIN_MS)
  }
}

async function keptPrefix({ config: { storage } }: LoadedConfig): Promise<string> {
  const path = join(storage.agent_record_dir, FILE)
  const kept = (await readFile(path, 'utf8').catch(absent)) ?? (await keep(storage.agent_record_dir, path))
  if (FORM.test(kept.trim())) return kept.trim()
  throw invalid('bad_setting', `${path} is damaged: remove it, and start the engine again, which may hold adapters of the old name`)
}

const made = (): string => `${MADE}${randomBytes(4).toString('hex')}`

/** Whole or not at all, and the first of several threads wins. */
async function keep(folder: string, path: string): Promise<string> {
  await mkdirp(folder)
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
