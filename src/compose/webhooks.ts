/** Opens webhooks. */
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { LoadedConfig } from '../config/index.ts'
import type { HttpServices, Log } from '../http/index.ts'
import { FolderDocuments, newId, wordsOf } from '../kit/index.ts'
import type { Store } from '../contract/index.ts'
import { budgetEnded, type Services } from '../scenarios/index.ts'
import { errorIn } from '../training/index.ts'
import type { OpenKept, MoneySpender, WebhookDelivery } from '../webhooks/index.ts'
import { clock } from './traffic.ts'

/** With the targets that a changed configuration names. A target that stays is told what it was not told yet. */
export async function reopenWebhooks(
  opened: WebhookDelivery | undefined,
  before: LoadedConfig,
  ...[loaded, services, log]: Parameters<typeof openConfiguredWebhooks>
): Promise<WebhookDelivery | undefined> {
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
  services: Pick<Services, 'store' | 'recipes' | 'files'>,
  log: Log,
): Promise<WebhookDelivery | undefined> {
  const settings = Object.entries(webhooks).map(([name, { url, secret, events, allow_inside: allowsInside }]) => ({
    name,
    url,
    secret,
    events: new Set(events),
    allowsInside,
  }))
  if (settings.length === 0) return undefined
  const { WebhookDelivery: Delivery } = await import('../webhooks/index.ts')
  return Delivery.open(settings, keptIn(storage, services.store), {
    store: services.store,
    clock,
    newId,
    told: async (scenario, row) => ({ error: errorIn(row), budget: await budgetEnded(services, scenario, row) }),
    log: (level, event, fields) => log.write(level, event, fields),
  })
}

/** Where several services share a store they share this too, so that each can go on where another one ended. */
function keptIn(
  { record_backend, agent_record_dir }: LoadedConfig['config']['storage'],
  { documents }: Pick<Store, 'documents'>,
): OpenKept {
  if (documents !== undefined) return (fence) => documents('webhooks', fence)
  if (record_backend === 'memory') return () => null
  const folder = new FolderDocuments(join(agent_record_dir, 'webhooks'), { mode: 0o600 })
  return () => folder
}

/** Everybody who may spend so much money a day. Limits are those of now, also after a reload. */
export async function spendersIn(services: Pick<HttpServices, 'auth' | 'limits' | 'registry'>): Promise<readonly MoneySpender[]> {
  return services.limits.spent(services.auth.limited(), await services.registry.names())
}
