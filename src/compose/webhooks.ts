/** Opens webhooks. */
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { LoadedConfig } from '../config/index.ts'
import type { Log } from '../http/index.ts'
import { wordsOf } from '../kit/index.ts'
import { budgetEnded, type Services } from '../scenarios/index.ts'
import { errorIn } from '../training/index.ts'
import type { Webhooks } from '../webhooks/index.ts'
import { clock } from './traffic.ts'

/** With the targets that a changed configuration names. A target that stays is told what it was not told yet. */
export async function reopenWebhooks(
  opened: Webhooks | undefined,
  before: LoadedConfig,
  ...[loaded, services, log]: Parameters<typeof openConfiguredWebhooks>
): Promise<Webhooks | undefined> {
  if (isDeepStrictEqual(before.config.webhooks, loaded.config.webhooks)) return opened
  await opened?.close()
  try {
    return await openConfiguredWebhooks(loaded, services, log)
  } catch (error) {
    const message = 'webhooks cannot be opened again, and no target is told of anything until they can; mend this, then reload'
    log.write('error', 'background_error', { message, error: wordsOf(error) })
    return undefined
  }
}

/** The room is loaded only where a target is configured. */
export async function openConfiguredWebhooks(
  { config: { webhooks, storage } }: LoadedConfig,
  services: Pick<Services, 'store' | 'recipes'>,
  log: Log,
): Promise<Webhooks | undefined> {
  const settings = Object.entries(webhooks).map(([name, { url, secret, events, allow_inside: allowsInside }]) => ({
    name,
    url,
    secret,
    events: new Set(events),
    allowsInside,
  }))
  if (settings.length === 0) return undefined
  const { openWebhooks } = await import('../webhooks/index.ts')
  const folder = storage.record_backend === 'memory' ? null : join(storage.agent_record_dir, 'webhooks')
  return openWebhooks(settings, folder, {
    store: services.store,
    clock,
    told: async (scenario, row) => ({ error: errorIn(row), budget: await budgetEnded(services, scenario, row) }),
    log: (level, event, fields) => log.write(level, event, fields),
  })
}
