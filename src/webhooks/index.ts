/**
 * Webhooks: tells targets of what rows say, signed and at least once. The rows themselves are the queue.
 * Does not decide anything, and holds up nothing.
 */
import { join } from 'node:path'
import type { Store } from '../contract/index.ts'
import { Positions, type ToldPosition } from './positions.ts'
import { SetAside } from './set-aside.ts'
import { WebhookTarget, type WebhookNeeds, type WebhookSettings } from './target.ts'

export type { WebhookSettings } from './target.ts'

export interface Webhooks {
  counts(): readonly Pick<WebhookTarget, 'name' | 'delivered' | 'failed' | 'waiting' | 'setAside'>[]
  close(): Promise<void>
}

/** No folder: positions are lost with the process, as the rows are. */
export async function openWebhooks(settings: readonly WebhookSettings[], folder: string | null, needs: WebhookNeeds): Promise<Webhooks> {
  const { store } = needs
  const targets: WebhookTarget[] = []
  for (const each of settings) {
    const file = (kind: string): string | null => (folder === null ? null : join(folder, `${each.name}${kind}.json`))
    const aside = await SetAside.open(file('.set-aside'))
    targets.push(new WebhookTarget(each, { positions: await Positions.open(file(''), () => newestRows(store)), aside }, needs))
  }
  // Followed before the scenarios are listed, so that no row is missed.
  const unfollow = store.follow((change) => {
    for (const target of targets) {
      if (change.kind === 'landed') target.wake(change.scenario)
      if (change.kind === 'archived') target.forget(change.scenario)
    }
  })
  for (const scenario of await store.scenarios()) for (const target of targets) target.wake(scenario)
  return {
    counts: () => targets.map(({ name, delivered, failed, waiting, setAside }) => ({ name, delivered, failed, waiting, setAside })),
    async close() {
      unfollow()
      await Promise.all(targets.map((target) => target.close()))
    },
  }
}

async function newestRows(store: Store): Promise<Map<string, ToldPosition>> {
  const rows = new Map<string, ToldPosition>()
  for (const name of await store.scenarios()) {
    const head = await store.scenario(name).head()
    if (head !== null) rows.set(name, { step: head.newest.step, recorded_at: head.newest.recorded_at })
  }
  return rows
}
