/** How busy the connections to an upstream are. */
import { Pool } from 'undici'
import type { JsonObject } from '../../../src/contract/index.ts'
import type { Connections } from '../common/upstream.ts'

/** Of direct connections only; those through a proxy are not counted. */
export function loadOf(dispatcher: Connections['dispatcher']): JsonObject {
  if (!(dispatcher instanceof Pool)) return {}
  const { connected, running, queued } = dispatcher.stats
  return { connections: connected, running, queued }
}
