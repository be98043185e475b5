/** Writes to the audit what a request changed, and says whose request it is. */
import type { IncomingMessage } from 'node:http'
import type { Actor } from '../../access/index.ts'
import { RELAYED_FROM_HEADER, unavailable, type AuditEntry, type Commit } from '../../contract/index.ts'
import type { HttpContext } from '../context.ts'
import type { TrafficServices } from '../services.ts'

type Changed = Pick<AuditEntry, 'scenario' | 'target' | 'before' | 'after'>

/** After the change and before the answer. */
export async function noteChange(context: HttpContext, changed: Changed): Promise<void> {
  const { deployment } = context.services.store
  await write(context, (entry) => deployment.addAudit(entry), { action: context.route?.spec?.operationId ?? '', ...changed })
}

/** A scenario that a request made by naming it. What the request does besides has an entry of its own, so this one has another id. */
export async function noteImplicitScenario(context: HttpContext<TrafficServices>, scenario: string, { release }: Commit): Promise<void> {
  const { addAudit } = context.services
  const changed = { action: 'createScenario', scenario, target: null, before: null, after: { release_id: release?.release_id ?? null } }
  // A listener thread makes no scenario.
  if (addAudit !== undefined) await write(context, addAudit, { id: `${context.id}.scenario`, ...changed })
}

async function write(
  context: HttpContext<TrafficServices>,
  add: (entry: AuditEntry) => Promise<void>,
  changed: Changed & Pick<AuditEntry, 'action'> & Partial<Pick<AuditEntry, 'id'>>,
): Promise<void> {
  const { clock, log } = context.services
  const entry: AuditEntry = { ...actorOf(context), at: clock(), ...changed }
  try {
    await add(entry)
  } catch (cause) {
    log.write('error', 'audit_failed', { ...entry })
    throw unavailable('audit_failed', 'the change was made, but could not be written to the audit; the log has its entry', { cause })
  }
}

export function actorOf({ id, principal, request }: HttpContext<TrafficServices>): Actor {
  const [by, role] = principal.kind === 'service' ? [principal.name, principal.role] : [null, null]
  return { id, by, role, from: peerOf(request) }
}

/** The address at the other end of the connection. A listener thread passes it on, over a socket of this process that has none. */
export function peerOf({ socket, headers }: IncomingMessage): string | null {
  const relayed = headers[RELAYED_FROM_HEADER]
  const address = socket.remoteAddress ?? (typeof relayed === 'string' ? relayed : null)
  return address?.replace(/^::ffff:(?=[\d.]+$)/, '') ?? null
}
