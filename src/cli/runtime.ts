/** `svc runtime add` and `svc runtime list`: install what runtimes need besides the service. */
import { bytes } from '../presentation/index.ts'
import { Argument, type Command } from 'commander'
import { LLAMA_PACKAGE, runtimeFolder } from '../contract/index.ts'
import { printError } from './explain.ts'
import { bytesIn, installLlama, isInstalled } from './runtime-install.ts'
import { jsonText } from './screen/text.ts'
import { EXIT, type BindCommand, type Surroundings } from './surroundings.ts'

export function addRuntimeCommands(program: Command, run: BindCommand): void {
  const runtime = program.command('runtime').description('install what a runtime needs besides the service')
  runtime.addHelpText('after', '\nExample:\n  svc runtime add llama')
  run(runtime.command('add').description('install it for this user, pinned by a lockfile; about 85 MB'), runtimeAdd)
    .addArgument(new Argument('<runtime>', 'the runtime').choices(['llama']))
    .option('--force', 'install it again')
    .addHelpText('after', '\nExample:\n  svc runtime add llama')
  run(runtime.command('list').description('list what is installed, and where'), runtimeList)
    .option('--json', 'print JSON instead of a table')
    .addHelpText('after', '\nExample:\n  svc runtime list')
}

async function runtimeAdd({ force }: { readonly force?: boolean }, surroundings: Surroundings): Promise<number> {
  const folder = runtimeFolder('llama', surroundings.environment)
  try {
    if (isInstalled(folder) && force !== true) {
      surroundings.out(`llama is installed: ${folder}`)
      return EXIT.fine
    }
    surroundings.progress(`installing ${LLAMA_PACKAGE.name} ${LLAMA_PACKAGE.version} …`)
    await installLlama(folder, surroundings.environment, force === true ? 'replace' : 'keep')
    surroundings.progress('')
    surroundings.out(`llama installed: ${folder} (${bytes(await bytesIn(folder))})`)
    return EXIT.fine
  } catch (error) {
    surroundings.progress('')
    printError(error, null, surroundings)
    return EXIT.failed
  }
}

async function runtimeList({ json }: { readonly json?: boolean }, surroundings: Surroundings): Promise<number> {
  const folder = runtimeFolder('llama', surroundings.environment)
  const installed = isInstalled(folder)
  const size = installed ? await bytesIn(folder) : null
  const { name, version } = LLAMA_PACKAGE
  if (json === true) surroundings.out(jsonText([{ runtime: 'llama', package: name, version, installed, folder, bytes: size }], 2))
  else
    surroundings.out(`llama  ${name} ${version}  ${size === null ? 'not installed: svc runtime add llama' : `${bytes(size)} in ${folder}`}`)
  return EXIT.fine
}
