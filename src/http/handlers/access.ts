/** Tokens, the audit and who is forgotten: list, make, rotate, revoke, read, remove. */
import {
  conflict,
  invalid,
  type AuditList,
  type ForgottenPerson,
  type NewToken,
  type RevokedToken,
  type TokenLimits,
  type TokenList,
  type TokenRow,
  type TokenUse,
} from '../../contract/index.ts'
import { createTokenBodySchema, forgetBodySchema, rotateTokenBodySchema, tokenLimitsSchema } from '../../contract/wire/index.ts'
import { checkShape } from '../../records/index.ts'
import { scenarioName } from '../../scenarios/index.ts'
import { actorOf } from './audit.ts'
import type { HttpContext } from '../context.ts'
import { json, liveJson, type HttpReply } from '../reply.ts'
import { cutPage, pageLimit, pageStart } from '../request-fields.ts'

export async function listTokens({ services: { tokens, auth, limits } }: HttpContext): Promise<HttpReply> {
  const rows = tokens.list()
  const uses = await limits.usesOf(rows.map(({ name }) => auth.limitedByName(name)))
  const listed = rows.map((row, at) => ({ ...row, ...useOf(uses[at]) }))
  return liveJson({ tokens: listed } satisfies TokenList)
}

const useOf = (use: TokenUse | null | undefined): { readonly use?: TokenUse } => (use == null ? {} : { use })

export async function createToken(context: HttpContext): Promise<HttpReply> {
  const { auth, tokens } = context.services
  const { scenarios, ...body } = checkShape(createTokenBodySchema, await context.readObject())
  if (!auth.isRequired)
    throw conflict('service_open', 'this service asks nobody for a token, so one would open nothing; set svc.token and start it again')
  refuseUncounted(context, body.limits)
  const names = scenarios?.map((name) => scenarioName(name, 'scenarios'))
  const made = await tokens.create({ ...body, ...(names !== undefined && { scenarios: [...new Set(names)] }) }, actorOf(context))
  return noStore(json(made satisfies NewToken, 201))
}

export async function limitToken(context: HttpContext): Promise<HttpReply> {
  const limits = checkShape(tokenLimitsSchema, await context.readObject())
  refuseUncounted(context, limits)
  return json((await context.services.tokens.limit(nameIn(context), limits, actorOf(context))) satisfies TokenRow)
}

/** A limit of money that nothing ever counts in would say more than is true. */
function refuseUncounted({ services }: HttpContext, limits: TokenLimits | undefined): void {
  if ((limits?.cost_per_day ?? 0) > 0 && !services.limits.knowsPrices)
    throw invalid('no_prices', 'limits.cost_per_day: no model has a price, so nothing would count; set limits.prices, reload, then resend')
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

/** A secret is kept by the client that asked for it, and by no cache between. */
const noStore = (reply: HttpReply): HttpReply => ({ ...reply, headers: { ...reply.headers, 'cache-control': 'no-store' } })

export async function forget(context: HttpContext): Promise<HttpReply> {
  const body = checkShape(forgetBodySchema, await context.readObject())
  return noStore(json((await context.services.forget(body, actorOf(context))) satisfies ForgottenPerson))
}

export async function readAudit({ services: { store }, query }: HttpContext): Promise<HttpReply> {
  const from = pageStart(query)
  const limit = pageLimit(query)
  const { rows, next } = cutPage(await store.deployment.audit({ ...from, limit: limit + 1 }), limit, ({ sequence }) => sequence)
  const more = 'after' in from ? { next_after_sequence: next } : { next_before_sequence: next }
  return liveJson({ audit: rows, ...more } satisfies AuditList)
}
