/** `svc verify`: re-hashes every stored record, works the totals of every row out again, and names what is damaged. */
import { existsSync } from 'node:fs'
import type { LoadedConfig } from '../config/index.ts'
import type { Store } from '../contract/index.ts'
import { startBar } from './bar.ts'
import { loadFor } from './config.ts'
import { printError } from './explain.ts'
import { jsonText, oneLine } from './screen/text.ts'
import { EXIT, type ConfigOptions, type Surroundings } from './surroundings.ts'

export async function verify(options: ConfigOptions, surroundings: Surroundings): Promise<number> {
  const loaded = await loadFor(options, surroundings)
  const missing = nothingThere(loaded)
  if (missing !== null) {
    surroundings.err(missing)
    return EXIT.misconfigured
  }
  const service = await surroundings.service()
  let store: Store
  try {
    store = await service.openStore(loaded)
  } catch (error) {
    printError(error, loaded, surroundings)
    return EXIT.misconfigured
  }
  try {
    const { records, damage } = await check(store, surroundings)
    return report({ records, damage: [...damage, ...(await service.checkTotals(store))] }, options, surroundings)
  } finally {
    await store.close()
  }
}

/** Opening a store creates it, so a missing one is reported first. */
function nothingThere({ config, moved }: LoadedConfig): string | null {
  const { record_backend: backend, agent_record_dir: directory } = config.storage
  if (backend === 'memory') return 'storage.record_backend is memory: there is nothing on disk to verify'
  if (backend !== 'sqlite' || moved.length > 0 || existsSync(directory)) return null
  return `there are no records in ${directory}: set storage.agent_record_dir, or name the configuration with -c FILE`
}

async function check(store: Store, surroundings: Surroundings) {
  const bar = startBar(surroundings)
  let records = 0
  try {
    const damage = await store.verify((checked, total) => {
      records = checked
      bar.at(checked, total)
    })
    return { records, damage }
  } finally {
    bar.end()
  }
}

type Checked = Awaited<ReturnType<typeof check>>

function report({ records, damage }: Checked, { json }: ConfigOptions, surroundings: Surroundings): number {
  if (json === true) surroundings.out(jsonText({ checked: records, damage }, 2))
  else {
    for (const { scenario, agent_record_id, problem } of damage)
      surroundings.out([scenario, agent_record_id, problem].map(oneLine).join('  '))
    surroundings.out(
      damage.length === 0 ? `${records} checked, none damaged` : `${records} checked, ${damage.length} damaged: restore them from a backup`,
    )
  }
  return damage.length === 0 ? EXIT.fine : EXIT.failed
}
