/** The tokens of the deployment: made, rotated and revoked here, each change with its entry in the audit, and read again when any process changed them. */
import { hash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  conflict,
  invalid,
  isRefusal,
  isSignIn,
  limited,
  SIGN_IN_PREFIX,
  SIGN_INS_MAX,
  TOKEN_PREFIX,
  TOKENS_MAX,
  unknown,
  type AuditEntry,
  type CreateTokenBody,
  type NewToken,
  type Store,
  type StoredToken,
  type TokenLimits,
  type TokenRow,
} from '../contract/index.ts'

const SECRET_BYTES = 32
const DAY_SECONDS = 86_400
const READ_AGAIN_MS = 250
const HOUR_SECONDS = 3600
const SIGN_IN_NAME_BYTES = 8
/** How many sign-ins that expired one new one ends. */
const ENDED_AT_ONCE_MAX = 20

/** Who changes something, as the audit says it. */
export type Actor = Pick<AuditEntry, 'id' | 'by' | 'role' | 'from'>

/** The sign-in of a person, who is its name in the log and the audit. */
interface NewSignIn extends Pick<TokenRow, 'role' | 'scenarios'> {
  readonly person: string
  readonly lifeSeconds: number
}

export interface TokenBookNeeds {
  readonly store: Pick<Store, 'deployment' | 'follow'>
  readonly clock: () => number
  /** Takes all tokens, whenever they were read. Those left out are in force no longer. */
  readonly use: (tokens: readonly StoredToken[]) => void
  /** Resolves once every thread has taken what was used last. */
  readonly taken: () => Promise<void>
  readonly warn: (message: string, error: unknown) => void
}

export class TokenBook {
  readonly #needs: TokenBookNeeds
  readonly #closing = new AbortController()
  readonly #unfollow: () => void
  #tokens: readonly StoredToken[] = []
  #running: Promise<void> = Promise.resolve()
  #queued: Promise<void> | null = null

  private constructor(needs: TokenBookNeeds) {
    this.#needs = needs
    this.#unfollow = needs.store.follow(({ kind }) => {
      if (kind === 'tokens') void this.#refresh()
    })
  }

  /** Follows before it reads, so that nothing is missed between. */
  static async open(needs: TokenBookNeeds): Promise<TokenBook> {
    const book = new TokenBook(needs)
    try {
      book.#take(await needs.store.deployment.tokens())
      return book
    } catch (error) {
      await book.close()
      throw error
    }
  }

  list(): readonly TokenRow[] {
    return this.#tokens.map(shown)
  }

  /** Its secret is answered this once. The token is in force in this process when the promise resolves. */
  async create({ name, role, scenarios, expires_in_days: days, limits }: CreateTokenBody, actor: Actor): Promise<NewToken> {
    if (role === 'agent' && scenarios === undefined)
      throw invalid('invalid_field', 'scenarios: a token of the role agent is for the scenarios that it names; name them')
    if (role === 'admin' && scenarios !== undefined)
      throw invalid('invalid_field', 'scenarios: a token of the role admin is for the whole deployment; leave them out')
    if (this.#find(name) !== undefined)
      throw conflict('token_exists', `there is a token ${name} already; choose another name, or rotate or revoke that one`)
    if (this.#tokens.length >= TOKENS_MAX)
      throw conflict('token_limit', `there are ${TOKENS_MAX} tokens, the most there can be; revoke those that expired or are not used`)
    const wanted = { name, role, scenarios: scenarios ?? null, ...(limits !== undefined && { limits }) }
    return this.#issue(null, wanted, lifeOf(days), { ...actor, action: 'createToken' })
  }

  /** Another secret in its place; the old one is refused from then on. Without days it lives as long as it was given before. */
  async rotate(name: string, days: number | undefined, actor: Actor): Promise<NewToken> {
    const before = this.#known(name)
    if (isSignIn(before))
      throw conflict(
        'sign_in_token',
        'this is the sign-in of a person, whose browser alone has its secret; revoke it, and they sign in again',
      )
    const { role, scenarios, created_at, expires_at, limits } = before
    const life = days === undefined && expires_at !== null ? expires_at - created_at : lifeOf(days)
    const wanted = { name, role, scenarios, ...(limits !== undefined && { limits }) }
    return this.#issue(before, wanted, life, { ...actor, action: 'rotateToken' })
  }

  /** In place of those that it had of its own. They are in force in this process when the promise resolves. */
  async limit(name: string, limits: TokenLimits, actor: Actor): Promise<TokenRow> {
    const before = this.#known(name)
    if (isSignIn(before))
      throw conflict('sign_in_token', 'this is the sign-in of a person, whose limits are in the configuration: limits.tokens.<person>')
    const { limits: _, ...rest } = before
    const after: StoredToken = { ...rest, ...(Object.keys(limits).length > 0 && { limits }) }
    const entry = this.#entry({ ...actor, action: 'limitToken' }, name, shown(before), shown(after))
    await this.#needs.store.deployment.changeToken({ name, before: before.digest, after }, entry)
    await this.#inForce()
    return shown(after)
  }

  async revoke(name: string, actor: Actor): Promise<void> {
    await this.#remove(this.#known(name), { ...actor, action: 'revokeToken' })
    await this.#inForce()
  }

  /** A token that the browser of a person holds. Ends what expired, and the oldest of the person's own where they have too many. */
  async signIn({ person, role, scenarios, lifeSeconds }: NewSignIn, { id, from }: Pick<Actor, 'id' | 'from'>): Promise<NewToken> {
    await this.#endOld(person, id)
    if (this.#tokens.length >= TOKENS_MAX)
      throw limited('sign_ins_limit', 'there are as many tokens and sign-ins as there can be', HOUR_SECONDS)
    const name = SIGN_IN_PREFIX + randomBytes(SIGN_IN_NAME_BYTES).toString('hex')
    return this.#issue(null, { name, role, scenarios }, lifeSeconds, { id, from, by: person, role, action: 'signIn' })
  }

  /** Of the person whose sign-in it is. One that is over already is no failure. */
  async signOut(name: string, actor: Actor): Promise<void> {
    const before = this.#find(name)
    if (before !== undefined) await this.#remove(before, { ...actor, action: 'signOut' }).catch(unlessChanged)
    await this.#inForce()
  }

  async #endOld(person: string, id: string): Promise<void> {
    const now = this.#needs.clock()
    const signIns = this.#tokens.filter(isSignIn)
    const over = signIns.filter(({ expires_at }) => expires_at !== null && expires_at <= now).slice(0, ENDED_AT_ONCE_MAX)
    const own = signIns.filter((token) => token.created_by === person && !over.includes(token))
    const surplus = own.toSorted((one, other) => one.created_at - other.created_at).slice(0, Math.max(0, own.length - SIGN_INS_MAX + 1))
    for (const token of [...over, ...surplus]) {
      const entry = { id: `${id}.${token.name}`, by: null, role: null, from: null, action: 'endSignIn' }
      await this.#remove(token, entry).catch(unlessChanged)
    }
  }

  async #remove(before: StoredToken, actor: Actor & Pick<AuditEntry, 'action'>): Promise<void> {
    const { name, digest } = before
    await this.#needs.store.deployment.changeToken({ name, before: digest, after: null }, this.#entry(actor, name, shown(before), null))
  }

  /** Resolves once no thread takes the tokens for a scenario that was just archived. */
  scenarioEnded(): Promise<void> {
    return this.#inForce()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#unfollow()
    await Promise.allSettled([this.#running, this.#queued])
  }

  async #issue(
    before: StoredToken | null,
    wanted: Pick<TokenRow, 'name' | 'role' | 'scenarios' | 'limits'>,
    lifeSeconds: number | null,
    actor: Actor & Pick<AuditEntry, 'action'>,
  ): Promise<NewToken> {
    const token = TOKEN_PREFIX + randomBytes(SECRET_BYTES).toString('base64url')
    const now = this.#needs.clock()
    const expires_at = lifeSeconds === null ? null : now + lifeSeconds
    const row: TokenRow = { ...wanted, created_at: now, created_by: actor.by ?? '', expires_at }
    const after: StoredToken = { ...row, digest: hash('sha256', token) }
    const entry = this.#entry(actor, row.name, before === null ? null : shown(before), row)
    await this.#needs.store.deployment.changeToken({ name: row.name, before: before?.digest ?? null, after }, entry)
    await this.#inForce()
    return { ...row, token }
  }

  #entry(actor: Actor & Pick<AuditEntry, 'action'>, target: string, before: TokenRow | null, after: TokenRow | null): AuditEntry {
    return { ...actor, at: this.#needs.clock(), scenario: null, target, before, after }
  }

  #find(name: string): StoredToken | undefined {
    return this.#tokens.find((token) => token.name === name)
  }

  #known(name: string): StoredToken {
    const token = this.#find(name)
    if (token === undefined) throw unknown('unknown_token', 'there is no token of that name; GET /svc/tokens lists them')
    return token
  }

  async #inForce(): Promise<void> {
    await this.#refresh()
    await this.#needs.taken()
  }

  /** Resolves once a read is over that began after this call. One waits at most, for all who ask meanwhile. */
  #refresh(): Promise<void> {
    this.#queued ??= this.#running.then(() => {
      this.#queued = null
      this.#running = this.#read()
      return this.#running
    })
    return this.#queued
  }

  /** Until it succeeds: a token that was revoked elsewhere must not stay in force because one read failed. */
  async #read(): Promise<void> {
    const { signal } = this.#closing
    for (let isToldOf = false; !signal.aborted; isToldOf = true) {
      try {
        return this.#take(await this.#needs.store.deployment.tokens())
      } catch (error) {
        if (signal.aborted || (isRefusal(error) && error.code === 'store_closed')) return
        if (!isToldOf) this.#needs.warn('the tokens changed and cannot be read; those known before stay in force until they can', error)
        await sleep(READ_AGAIN_MS, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  #take(tokens: readonly StoredToken[]): void {
    this.#tokens = tokens
    this.#needs.use(tokens)
  }
}

function shown(token: StoredToken): TokenRow {
  const { digest: _, ...row } = token
  return row
}

const lifeOf = (days: number | undefined): number | null => (days === undefined ? null : days * DAY_SECONDS)

/** Another process ended it first. */
function unlessChanged(error: unknown): void {
  if (!isRefusal(error) || error.code !== 'token_conflict') throw error
}
