/** `svc token`: makes, lists, rotates and revokes the tokens of a running service. */
import { ServiceFailure, type NewToken, type TokenRow } from '@svc-ai/client'
import { ENV, type Role } from '../../contract/index.ts'
import { ago } from '../../presentation/index.ts'
import { table, type Cell, type TableColumn } from '../screen/table.ts'
import { jsonText, oneLine } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './address.ts'
import { withService, type RemoteService } from './service.ts'

const INSTALL_LINE = '/svc/harness/install/line'

export interface RevokeTokenOptions extends RemoteOptions {
  readonly name: string
}
export interface CreateTokenOptions extends Omit<RevokeTokenOptions, 'scenario'> {
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
    const made = await service.svc.createToken({
      name,
      role,
      ...(scenarios !== undefined && { scenarios }),
      ...(expires !== undefined && { expires_in_days: expires }),
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
]

function cellsOf(token: TokenRow): readonly Cell[] {
  const isOver = token.expires_at !== null && token.expires_at * 1000 <= Date.now()
  const expires = isOver ? ({ text: 'expired', tone: 'bad' } as const) : expiryOf(token)
  return [oneLine(token.name), token.role, scenariosOf(token), expires, ago(token.created_at), oneLine(token.created_by)]
}

const scenariosOf = ({ scenarios }: TokenRow): string => (scenarios === null ? 'all' : scenarios.map(oneLine).join(', '))
const expiryOf = ({ expires_at: at }: TokenRow): string => (at === null ? 'never' : new Date(at * 1000).toISOString().slice(0, 16))

function show(made: NewToken, { json }: RemoteOptions, { out }: Surroundings, install: string | null = null): number {
  if (json === true) out(jsonText({ ...made, ...(install !== null && { install }) }, 2))
  else {
    out(made.token)
    out(`This is ${oneLine(made.name)}: role ${made.role}, scenarios: ${scenariosOf(made)}, expires: ${expiryOf(made)}.`)
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
