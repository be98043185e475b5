/** `svc runtime …`, `svc store …` and `svc sign-in …`: install and list what is needed on demand besides the service. */
import { bytes } from '../presentation/index.ts'
import { Argument, Option, type Command } from 'commander'
import { LLAMA_PACKAGE, OPENID_PACKAGE, PG_PACKAGE, runtimeFolder, signInFolder, storeFolder } from '../contract/index.ts'
import type { CopyOptions } from './copy/command.ts'
import { printError } from './explain.ts'
import { bytesIn, isInstalled } from './package-install.ts'
import { GPUS, hasGpu, installLlama, type Gpu } from './runtime-install.ts'
import { jsonText } from './screen/text.ts'
import { installOpenId } from './sign-in-install.ts'
import { installPostgres } from './store-install.ts'
import { EXIT, later, type BindCommand, type Surroundings } from './surroundings.ts'

interface OnDemand {
  /** The command, and the field of `list --json`. */
  readonly kind: 'runtime' | 'store' | 'sign-in'
  readonly name: string
  readonly pinned: { readonly name: string; readonly version: string }
  readonly size: string
  readonly folderOf: (environment: Surroundings['environment']) => string
  readonly install: (folder: string, environment: Surroundings['environment'], there: 'keep' | 'replace', gpu: Gpu | null) => Promise<void>
  /** The kinds of graphics cards that it can be installed for. */
  readonly gpus: readonly Gpu[]
}

interface AddOptions {
  readonly force?: boolean
  readonly gpu?: Gpu
}

const LLAMA: OnDemand = {
  kind: 'runtime',
  name: 'llama',
  pinned: LLAMA_PACKAGE,
  size: 'about 85 MB',
  folderOf: (environment) => runtimeFolder('llama', environment),
  install: installLlama,
  gpus: GPUS,
}

const POSTGRES: OnDemand = {
  kind: 'store',
  name: 'postgres',
  pinned: PG_PACKAGE,
  size: 'less than 1 MB',
  folderOf: (environment) => storeFolder('postgres', environment),
  install: installPostgres,
  gpus: [],
}

const OPENID: OnDemand = {
  kind: 'sign-in',
  name: 'openid',
  pinned: OPENID_PACKAGE,
  size: 'about 2 MB',
  folderOf: signInFolder,
  install: installOpenId,
  gpus: [],
}

const COPY_HELP = `
A PLACE is sqlite:DIR (a storage.agent_record_dir), postgres://user@host/database?schema=svc, or the configuration file of a
deployment. Between two configuration files the releases are copied too, where they lie in different repositories.
Copied: records with their ids, times and references, and every row; then both sides are read again and compared.
Not copied: records whose bodies capacity took (they are counted), archived scenarios, model settings, the key of the
deployment. Start no service on the target before the command has ended with 0.
If interrupted, even by kill -9, run it again and it continues. Give a password by PGPASSWORD or the password file.
Exit codes: 0 both sides are the same, 1 they differ, 2 it could not begin or was interrupted.

Examples:
  svc store copy --from sqlite:.svc/agent-record --to postgres://svc@db.internal/svc
  svc store copy --from old.yaml --to new.yaml --scenario support`

export function addOnDemandCommands(program: Command, run: BindCommand): void {
  addCommands(LLAMA, program, run)
  addCopyCommand(addCommands(POSTGRES, program, run), run)
  addCommands(OPENID, program, run)
}

function addCopyCommand(store: Command, run: BindCommand): void {
  const copy = store.command('copy').description('copy records and rows from one store to another')
  run<CopyOptions>(
    copy,
    later(async () => (await import('./copy/command.ts')).copyStore),
  )
    .usage('--from PLACE --to PLACE [--scenario NAME [--as NEW]] [--json]')
    .requiredOption('--from <place>', 'what is copied; it is only read')
    .requiredOption('--to <place>', 'where to; what is there stays')
    .option('--scenario <name>', 'only this scenario')
    .option('--as <name>', 'another name for its copy')
    .option('--json', 'print JSON instead of a table')
    .addHelpText('after', COPY_HELP)
}

function addCommands(wanted: OnDemand, program: Command, run: BindCommand): Command {
  const { kind, name, size } = wanted
  const command = program.command(kind).description(`install what a ${kind} needs besides the service`)
  command.addHelpText('after', `\nExample:\n  svc ${kind} add ${name}`)
  const add = command.command('add').description(`install it for this user, pinned by a lockfile; ${size}`)
  if (wanted.gpus.length > 0) add.addOption(new Option('--gpu <kind>', 'with the binary for such a graphics card too').choices(wanted.gpus))
  run(add, (options: AddOptions, surroundings: Surroundings) => addOne(wanted, options, surroundings))
    .addArgument(new Argument(`<${kind}>`, `the ${kind}`).choices([name]))
    .option('--force', 'install it again')
    .addHelpText('after', `\nExample:\n  svc ${kind} add ${name}`)
  const list = command.command('list').description('list what is installed, and where')
  run(list, (options: { readonly json?: boolean }, surroundings: Surroundings) => listOne(wanted, options, surroundings))
    .option('--json', 'print JSON instead of a table')
    .addHelpText('after', `\nExample:\n  svc ${kind} list`)
  return command
}

async function addOne(
  { name, pinned, folderOf, install }: OnDemand,
  { force, gpu }: AddOptions,
  surroundings: Surroundings,
): Promise<number> {
  const folder = folderOf(surroundings.environment)
  try {
    const isThere = isInstalled(folder, pinned)
    if (isThere && force !== true && (gpu === undefined || hasGpu(folder, gpu))) {
      surroundings.out(`${name} is installed: ${folder}`)
      return EXIT.fine
    }
    surroundings.progress(`installing ${pinned.name} ${pinned.version} …`)
    await install(folder, surroundings.environment, isThere ? 'replace' : 'keep', gpu ?? null)
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
