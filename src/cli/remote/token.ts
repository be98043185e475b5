/** `svc token`: makes, lists, limits, rotates and revokes the tokens of a running service. */
import { ServiceFailure, type ListedToken, type NewToken, type TokenLimits, type TokenRow } from '@svc-ai/client'
import { ENV, type Role } from '../../contract/index.ts'
import { ago, limitWords, useWords } from '../../presentation/index.ts'
import { table, type Cell, type TableColumn } from '../screen/table.ts'
import { jsonText, oneLine } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './address.ts'
import { withService, type RemoteService } from './service.ts'

const INSTALL_LINE = '/svc/harness/install/line'

export interface RevokeTokenOptions extends RemoteOptions {
  readonly name: string
}
/** Undefined: not named. */
interface LimitOptions {
  readonly requestsPerMinute?: number
  readonly tokensPerMinute?: number
  readonly costPerDay?: number
  readonly concurrentRequests?: number
}
export interface LimitTokenOptions extends RevokeTokenOptions, LimitOptions {
  readonly clear?: boolean
}
export interface CreateTokenOptions extends Omit<RevokeTokenOptions, 'scenario'>, LimitOptions {
  readonly role: Role
  readonly scenario?: readonly string[]
  /** Days. */
  readonly expires?: number
}
export interface RotateTokenOptions extends RevokeTokenOptions {
  readonly expires?: number
}

export function create({ scenario: scenarios, ...options }: CreateTokenOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const { name, role, expires } = options
    const limits = limitsIn(options)
    const made = await service.svc.createToken({
      name,
      role,
      ...(scenarios !== undefined && { scenarios }),
      ...(expires !== undefined && { expires_in_days: expires }),
      ...(Object.keys(limits).length > 0 && { limits }),
    })
    return show(made, options, surroundings, await installLineFor(service, made))
  })
}

/** What installs the agent of its scenario on the machine that the token is for; null where there is nothing to install. */
async function installLineFor({ in: within }: RemoteService, { role, scenarios }: NewToken): Promise<string | null> {
  const [scenario, another] = scenarios ?? []
  if (role !== 'agent' || scenario === undefined || another !== undefined) return null
  try {
    return (await within(scenario).text(INSTALL_LINE)).trim() || null
  } catch (error) {
    // The token is made, and its scenario may come later.
    if (error instanceof ServiceFailure) return null
    throw error
  }
}

export async function limit(options: LimitTokenOptions, surroundings: Surroundings): Promise<number> {
  const { name, json, clear = false } = options
  const named = limitsIn(options)
  if (!clear && Object.keys(named).length === 0) {
    surroundings.err('name a limit to change, such as --requests-per-minute 60, or --clear for those of the configuration')
    return EXIT.misconfigured
  }
  return withService(options, surroundings, async ({ svc }) => {
    const before = clear ? undefined : (await svc.tokens()).find((token) => token.name === name)?.limits
    const changed = await svc.limitToken(name, { ...before, ...named })
    surroundings.out(json === true ? jsonText(changed, 2) : `${oneLine(name)}: ${limitsOf(changed)}`)
    return EXIT.fine
  })
}

function limitsIn({ requestsPerMinute, tokensPerMinute, costPerDay, concurrentRequests }: LimitOptions): TokenLimits {
  return {
    ...(requestsPerMinute !== undefined && { requests_per_minute: requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokens_per_minute: tokensPerMinute }),
    ...(costPerDay !== undefined && { cost_per_day: costPerDay }),
    ...(concurrentRequests !== undefined && { concurrent_requests: concurrentRequests }),
  }
}

const limitsOf = ({ limits }: TokenRow): string => (limits === undefined ? 'limits: as configured' : `limits: ${limitWords(limits)}`)

export function rotate(options: RotateTokenOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async ({ svc }) =>
    show(await svc.rotateToken(options.name, options.expires), options, surroundings),
  )
}

export function revoke(options: RevokeTokenOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async ({ svc }) => {
    const { name, json } = options
    await svc.revokeToken(name)
    surroundings.out(json === true ? jsonText({ name, revoked: true }, 2) : `${oneLine(name)} is revoked`)
    return EXIT.fine
  })
}

export function list(options: RemoteOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async ({ svc, command }) => {
    const tokens = await svc.tokens()
    if (options.json === true) surroundings.out(jsonText({ tokens }, 2))
    else if (tokens.length === 0)
      surroundings.out(`there are no tokens but those of the configuration; make one: ${command('token create NAME --role read')}`)
    else surroundings.out(table(COLUMNS, tokens.map(cellsOf), surroundings))
    return EXIT.fine
  })
}

const COLUMNS: readonly TableColumn[] = [
  { title: 'NAME', least: 12 },
  { title: 'ROLE' },
  { title: 'SCENARIOS', least: 12 },
  { title: 'EXPIRES' },
  { title: 'MADE', isNumber: true },
  { title: 'BY', least: 8 },
  { title: 'USED', least: 12 },
]

function cellsOf(token: ListedToken): readonly Cell[] {
  const isOver = token.expires_at !== null && token.expires_at * 1000 <= Date.now()
  const expires = isOver ? ({ text: 'expired', tone: 'bad' } as const) : expiryOf(token)
  return [
    oneLine(token.name),
    token.role,
    scenariosOf(token),
    expires,
    ago(token.created_at),
    oneLine(token.created_by),
    useWords(token.use),
  ]
}

const scenariosOf = ({ scenarios }: TokenRow): string => (scenarios === null ? 'all' : scenarios.map(oneLine).join(', '))
const expiryOf = ({ expires_at: at }: TokenRow): string => (at === null ? 'never' : new Date(at * 1000).toISOString().slice(0, 16))

function show(made: NewToken, { json }: RemoteOptions, { out }: Surroundings, install: string | null = null): number {
  if (json === true) out(jsonText({ ...made, ...(install !== null && { install }) }, 2))
  else {
    out(made.token)
    out(`This is ${oneLine(made.name)}: role ${made.role}, scenarios: ${scenariosOf(made)}, expires: ${expiryOf(made)}, ${limitsOf(made)}.`)
    out('It is shown this once; only its hash is kept.')
    if (install !== null)
      for (const line of [
        'To install the agent on the machine that it is for, type there:',
        `  export ${ENV.token}=${made.token}`,
        `  ${install}`,
      ])
        out(line)
  }
  return EXIT.fine
}
