/** `svc runtime …` and `svc store …`: install and list what is needed on demand besides the service. */
import { bytes } from '../presentation/index.ts'
import { Argument, type Command } from 'commander'
import { LLAMA_PACKAGE, PG_PACKAGE, runtimeFolder, storeFolder } from '../contract/index.ts'
import { printError } from './explain.ts'
import { bytesIn, isInstalled } from './package-install.ts'
import { installLlama } from './runtime-install.ts'
import { jsonText } from './screen/text.ts'
import { installPostgres } from './store-install.ts'
import { EXIT, type BindCommand, type Surroundings } from './surroundings.ts'

interface OnDemand {
  /** The command, and the field of `list --json`. */
  readonly kind: 'runtime' | 'store'
  readonly name: string
  readonly pinned: { readonly name: string; readonly version: string }
  readonly size: string
  readonly folderOf: (environment: Surroundings['environment']) => string
  readonly install: (folder: string, environment: Surroundings['environment'], there: 'keep' | 'replace') => Promise<void>
}

const LLAMA: OnDemand = {
  kind: 'runtime',
  name: 'llama',
  pinned: LLAMA_PACKAGE,
  size: 'about 85 MB',
  folderOf: (environment) => runtimeFolder('llama', environment),
  install: installLlama,
}

const POSTGRES: OnDemand = {
  kind: 'store',
  name: 'postgres',
  pinned: PG_PACKAGE,
  size: 'less than 1 MB',
  folderOf: (environment) => storeFolder('postgres', environment),
  install: installPostgres,
}

export function addOnDemandCommands(program: Command, run: BindCommand): void {
  for (const each of [LLAMA, POSTGRES]) addCommands(each, program, run)
}

function addCommands(wanted: OnDemand, program: Command, run: BindCommand): void {
  const { kind, name, size } = wanted
  const command = program.command(kind).description(`install what a ${kind} needs besides the service`)
  command.addHelpText('after', `\nExample:\n  svc ${kind} add ${name}`)
  const add = command.command('add').description(`install it for this user, pinned by a lockfile; ${size}`)
  run(add, (options: { readonly force?: boolean }, surroundings: Surroundings) => addOne(wanted, options, surroundings))
    .addArgument(new Argument(`<${kind}>`, `the ${kind}`).choices([name]))
    .option('--force', 'install it again')
    .addHelpText('after', `\nExample:\n  svc ${kind} add ${name}`)
  const list = command.command('list').description('list what is installed, and where')
  run(list, (options: { readonly json?: boolean }, surroundings: Surroundings) => listOne(wanted, options, surroundings))
    .option('--json', 'print JSON instead of a table')
    .addHelpText('after', `\nExample:\n  svc ${kind} list`)
}

async function addOne(
  { name, pinned, folderOf, install }: OnDemand,
  { force }: { readonly force?: boolean },
  surroundings: Surroundings,
): Promise<number> {
  const folder = folderOf(surroundings.environment)
  try {
    if (isInstalled(folder, pinned) && force !== true) {
      surroundings.out(`${name} is installed: ${folder}`)
      return EXIT.fine
    }
    surroundings.progress(`installing ${pinned.name} ${pinned.version} …`)
    await install(folder, surroundings.environment, force === true ? 'replace' : 'keep')
    surroundings.progress('')
    surroundings.out(`${name} installed: ${folder} (${bytes(await bytesIn(folder))})`)
    return EXIT.fine
  } catch (error) {
    surroundings.progress('')
    printError(error, null, surroundings)
    return EXIT.failed
  }
}

async function listOne(
  { kind, name, pinned, folderOf }: OnDemand,
  { json }: { readonly json?: boolean },
  surroundings: Surroundings,
): Promise<number> {
  const folder = folderOf(surroundings.environment)
  const installed = isInstalled(folder, pinned)
  const size = installed ? await bytesIn(folder) : null
  const { name: packageName, version } = pinned
  if (json === true) surroundings.out(jsonText([{ [kind]: name, package: packageName, version, installed, folder, bytes: size }], 2))
  else {
    const found = size === null ? `not installed: svc ${kind} add ${name}` : `${bytes(size)} in ${folder}`
    surroundings.out(`${name}  ${packageName} ${version}  ${found}`)
  }
  return EXIT.fine
}
