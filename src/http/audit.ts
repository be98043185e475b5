/** Writes to the audit what a request changed, and says whose request it is. */
import type { IncomingMessage } from 'node:http'
import type { Actor } from '../access/index.ts'
import { RELAYED_FROM_HEADER, unavailable, type AuditEntry } from '../contract/index.ts'
import type { HttpContext } from './context.ts'

type Changed = Pick<AuditEntry, 'scenario' | 'target' | 'before' | 'after'>

/** After the change and before the answer. */
export async function noteChange(context: HttpContext, changed: Changed): Promise<void> {
  const { store, clock, log } = context.services
  const entry: AuditEntry = { ...actorOf(context), at: clock(), action: context.route?.spec?.operationId ?? '', ...changed }
  try {
    await store.deployment.addAudit(entry)
  } catch (cause) {
    log.write('error', 'audit_failed', { ...entry })
    throw unavailable('audit_failed', 'the change was made, but could not be written to the audit; the log has its entry', { cause })
  }
}

export function actorOf({ id, principal, request }: HttpContext): Actor {
  const [by, role] = principal.kind === 'service' ? [principal.name, principal.role] : [null, null]
  return { id, by, role, from: peerOf(request) }
}

/** The address at the other end of the connection. A listener thread passes it on, over a socket of this process that has none. */
export function peerOf({ socket, headers }: IncomingMessage): string | null {
  const relayed = headers[RELAYED_FROM_HEADER]
  const address = socket.remoteAddress ?? (typeof relayed === 'string' ? relayed : null)
  return address?.replace(/^::ffff:(?=[\d.]+$)/, '') ?? null
}
