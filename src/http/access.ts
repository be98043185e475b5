/** Tokens and the audit: list, make, rotate, revoke, read. */
import { conflict, type AuditList, type NewToken, type RevokedToken, type TokenList } from '../contract/index.ts'
import { createTokenBodySchema, rotateTokenBodySchema } from '../contract/wire/index.ts'
import { checkShape } from '../records/index.ts'
import { scenarioName } from '../scenarios/index.ts'
import { actorOf } from './audit.ts'
import type { HttpContext } from './context.ts'
import { json, liveJson, type HttpReply } from './reply.ts'
import { cutPage, pageLimit, pageStart } from './request-fields.ts'

export function listTokens({ services: { tokens } }: HttpContext): HttpReply {
  return liveJson({ tokens: tokens.list() } satisfies TokenList)
}

export async function createToken(context: HttpContext): Promise<HttpReply> {
  const { auth, tokens } = context.services
  const { scenarios, ...body } = checkShape(createTokenBodySchema, await context.readObject())
  if (!auth.isRequired)
    throw conflict('service_open', 'this service asks nobody for a token, so one would open nothing; set svc.token and start it again')
  const names = scenarios?.map((name) => scenarioName(name, 'scenarios'))
  const made = await tokens.create({ ...body, ...(names !== undefined && { scenarios: [...new Set(names)] }) }, actorOf(context))
  return noStore(json(made satisfies NewToken, 201))
}

export async function rotateToken(context: HttpContext): Promise<HttpReply> {
  const { expires_in_days: days } = checkShape(rotateTokenBodySchema, await context.readObject())
  return noStore(json((await context.services.tokens.rotate(nameIn(context), days, actorOf(context))) satisfies NewToken))
}

export async function revokeToken(context: HttpContext): Promise<HttpReply> {
  const name = nameIn(context)
  await context.services.tokens.revoke(name, actorOf(context))
  return json({ name, revoked: true } satisfies RevokedToken)
}

const nameIn = ({ params }: HttpContext): string => params['token_name'] ?? ''

/** A secret is kept by whoever asked for it, and by nothing between. */
const noStore = (reply: HttpReply): HttpReply => ({ ...reply, headers: { ...reply.headers, 'cache-control': 'no-store' } })

export async function readAudit({ services: { store }, query }: HttpContext): Promise<HttpReply> {
  const from = pageStart(query)
  const limit = pageLimit(query)
  const { rows, next } = cutPage(await store.deployment.audit({ ...from, limit: limit + 1 }), limit, ({ sequence }) => sequence)
  const more = 'after' in from ? { next_after_sequence: next } : { next_before_sequence: next }
  return liveJson({ audit: rows, ...more } satisfies AuditList)
}
