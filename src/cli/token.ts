/** `svc token`: what its commands take, and examples of them. */
import { InvalidArgumentError, Option, type Command } from 'commander'
import { RIGHT_SENTENCES, RIGHTS, ROLE_RIGHTS, ROLES, TOKEN_DAYS_MAX, type Role } from '../contract/index.ts'
import { remote } from './program-remote.ts'
import type { RemoteOptions } from './remote/address.ts'
import type { CreateTokenOptions, RevokeTokenOptions, RotateTokenOptions } from './remote/token.ts'
import { later, type BindCommand } from './surroundings.ts'

const TOKEN = 'the token, by its name'

export function addTokenCommands(program: Command, run: BindCommand): void {
  const token = program.command('token').description('make, list, rotate and revoke the tokens of a running service')
  token.addHelpText('after', TOKEN_EXAMPLES)
  run<CreateTokenOptions>(
    remote(token, 'create', 'make a token; its secret is printed this once', 'svc token create laptop-7 --role agent --scenario support'),
    later(async () => (await import('./remote/token.ts')).create),
  )
    .argument('<name>', 'what it goes by in the list, the log and the audit')
    .addOption(new Option('--role <role>', 'what it may do').choices(ROLES).makeOptionMandatory())
    .option('--scenario <name>', 'a scenario that it is for; may be given several times; left out, all of them', another)
    .option('--expires <days>', 'when it expires; left out, never', daysOf)
  run<RemoteOptions>(
    remote(token, 'list', 'list the tokens that were made', 'svc token list --json'),
    later(async () => (await import('./remote/token.ts')).list),
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

function rightsOf(role: Role): string {
  const rights = ROLE_RIGHTS[role]
  return rights.length === RIGHTS.length ? 'everything' : rights.map((right) => RIGHT_SENTENCES[right]).join('; ')
}

const another = (name: string, before: readonly string[] = []): readonly string[] => [...before, name]

const TOKEN_EXAMPLES = `
Examples:
  svc token create laptop-7 --role agent --scenario support --expires 90
  svc token list
  svc token rotate laptop-7
  svc token revoke laptop-7

Roles:
${ROLES.map((role) => `  ${role.padEnd(8)}${rightsOf(role)}`).join('\n')}`

function daysOf(text: string): number {
  const days = Number(text)
  if (!(days > 0 && days <= TOKEN_DAYS_MAX))
    throw new InvalidArgumentError(`It must be a number of days above 0, at most ${TOKEN_DAYS_MAX}.`)
  return days
}
