/** `svc token`: what its commands take, and examples of them. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import { RIGHT_SENTENCES, RIGHTS, ROLE_RIGHTS, ROLES, TOKEN_DAYS_MAX, TOKEN_LIMIT_MAX, type Role } from '../contract/index.ts'
import { remote } from './program-remote.ts'
import type { RemoteOptions } from './remote/address.ts'
import type { CreateTokenOptions, LimitTokenOptions, RevokeTokenOptions, RotateTokenOptions } from './remote/token.ts'
import { later, type BindCommand } from './surroundings.ts'

const TOKEN = 'the token, by its name'

export function addTokenCommands(program: Command, run: BindCommand): void {
  const token = program.command('token').description('make, list, limit, rotate and revoke the tokens of a running service')
  token.addHelpText('after', TOKEN_EXAMPLES)
  limits(
    run<CreateTokenOptions>(
      remote(token, 'create', 'make a token; its secret is printed this once', 'svc token create laptop-7 --role agent --scenario support'),
      later(async () => (await import('./remote/token.ts')).create),
    )
      .argument('<name>', 'what it goes by in the list, the log and the audit')
      .addOption(new Option('--role <role>', 'what it may do').choices(ROLES).makeOptionMandatory())
      .option('--scenario <name>', 'a scenario that it is for; may be given several times; left out, all of them', another)
      .option('--expires <days>', 'when it expires; left out, never', daysOf),
  )
  run<RemoteOptions>(
    remote(token, 'list', 'list the tokens that were made, with what they used of their limits', 'svc token list --json'),
    later(async () => (await import('./remote/token.ts')).list),
  )
  limits(
    run<LimitTokenOptions>(
      remote(token, 'limit', 'change the limits of a token; those that are not named stay', 'svc token limit laptop-7 --cost-per-day 5'),
      later(async () => (await import('./remote/token.ts')).limit),
    )
      .argument('<name>', TOKEN)
      .option('--clear', 'first drop the limits that it has of its own: those of the configuration count again'),
  )
  run<RotateTokenOptions>(
    remote(token, 'rotate', 'give a token another secret; the old one is refused at once', 'svc token rotate laptop-7'),
    later(async () => (await import('./remote/token.ts')).rotate),
  )
    .argument('<name>', TOKEN)
    .option('--expires <days>', 'when the new one expires; left out, after as long as before', daysOf)
  run<RevokeTokenOptions>(
    remote(token, 'revoke', 'remove a token; it is refused at once', 'svc token revoke laptop-7'),
    later(async () => (await import('./remote/token.ts')).revoke),
  ).argument('<name>', TOKEN)
}

/** 0 is no limit; one that is left out is as the configuration says. */
const limits = (command: Command): Command =>
  command
    .option('--requests-per-minute <n>', 'how many requests it may make in a minute; 0: no limit', wholeOf)
    .option('--tokens-per-minute <n>', 'how many tokens of questions and answers it may take in a minute; 0: no limit', wholeOf)
    .option('--cost-per-day <money>', 'how much it may spend in a day (UTC), by limits.prices; 0: no limit', moneyOf)
    .option('--concurrent-requests <n>', 'how many requests it may have in flight at once; 0: no limit', wholeOf)

function rightsOf(role: Role): string {
  const rights = ROLE_RIGHTS[role]
  return rights.length === RIGHTS.length ? 'everything' : rights.map((right) => RIGHT_SENTENCES[right]).join('; ')
}

const another = (name: string, before: readonly string[] = []): readonly string[] => [...before, name]

const TOKEN_EXAMPLES = `
Examples:
  svc token create laptop-7 --role agent --scenario support --expires 90
  svc token create ci --role serve --requests-per-minute 600 --cost-per-day 20
  svc token list
  svc token limit ci --cost-per-day 50
  svc token rotate laptop-7
  svc token revoke laptop-7

Roles:
${ROLES.map((role) => `  ${role.padEnd(8)}${rightsOf(role)}`).join('\n')}`

function wholeOf(text: string): number {
  const number = moneyOf(text)
  if (!Number.isInteger(number)) throw new InvalidArgumentError('It must be a whole number; 0 is no limit.')
  return number
}

function moneyOf(text: string): number {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (!(number >= 0 && number <= TOKEN_LIMIT_MAX))
    throw new InvalidArgumentError(`It must be a number from 0 to ${TOKEN_LIMIT_MAX}; 0 is no limit.`)
  return number
}

function daysOf(text: string): number {
  const days = Number(text)
  if (!(days > 0 && days <= TOKEN_DAYS_MAX))
    throw new InvalidArgumentError(`It must be a number of days above 0, at most ${TOKEN_DAYS_MAX}.`)
  return days
}
