/** `svc key show` and `svc key rotate`: the key that signs the releases of this deployment. */
import type { Command } from 'commander'
import { checkedInstallLine, installLine } from '@svc-ai/client/signing'
import { servedUrl, type LoadedConfig } from '../config/index.ts'
import { loadFor } from './config.ts'
import { printError } from './explain.ts'
import { hasToken, installOrder } from './install-order.ts'
import { EXIT, type BindCommand, type ConfigOptions, type Surroundings } from './surroundings.ts'

const USAGE = '[-c FILE] [--section.key value …]'
const ADAPTER_UNKNOWN = 'pi'

export function addKeyCommands(program: Command, run: BindCommand): void {
  const key = program.command('key').description('the key that signs the releases of this deployment')
  key.addHelpText('after', '\nExample:\n  svc key show')
  run<ConfigOptions>(configured(key.command('show').description('print its fingerprint, its file and the install line')), show).addHelpText(
    'after',
    '\nExample:\n  svc key show -c svc.yaml',
  )
  run<ConfigOptions>(
    configured(key.command('rotate').description('replace it by a new one, announced by the old one')),
    rotate,
  ).addHelpText('after', '\nExample:\n  svc key rotate -c svc.yaml')
}

const configured = (command: Command): Command =>
  command.usage(USAGE).option('-c, --config <file>', 'the configuration file (YAML)').option('--json', 'print JSON instead of text')

const show = (options: ConfigOptions, surroundings: Surroundings): Promise<number> =>
  withKey(options, surroundings, (service, loaded) => service.readKey(loaded), 'is the key of this deployment')

const rotate = (options: ConfigOptions, surroundings: Surroundings): Promise<number> =>
  withKey(
    options,
    surroundings,
    (service, loaded) => service.rotateKey(loaded),
    'is the new key; installed clients follow, because the old one signed it',
  )

type ServiceOfCommand = Awaited<ReturnType<Surroundings['service']>>

async function withKey(
  options: ConfigOptions,
  surroundings: Surroundings,
  work: (service: ServiceOfCommand, loaded: LoadedConfig) => ReturnType<ServiceOfCommand['readKey']>,
  words: string,
): Promise<number> {
  const loaded = await loadFor(options, surroundings)
  if (loaded.config.storage.record_backend === 'memory') {
    surroundings.err('storage.record_backend is memory: the key lasts as long as the service and is in no file')
    return EXIT.misconfigured
  }
  try {
    tell(await work(await surroundings.service(), loaded), words, loaded, options, surroundings)
    return EXIT.fine
  } catch (error) {
    printError(error, loaded, surroundings)
    return EXIT.failed
  }
}

type DeploymentKey = Awaited<ReturnType<ServiceOfCommand['readKey']>>

function tell(key: DeploymentKey, words: string, loaded: LoadedConfig, { json }: ConfigOptions, { out }: Surroundings): void {
  const url = servedUrl(loaded.config, loaded.config.svc.port)
  const { fingerprint } = key
  const order = installOrder(loaded, url, fingerprint) ?? { url, adapter: ADAPTER_UNKNOWN, key: fingerprint, hasToken: hasToken(loaded) }
  const lines = { install: installLine(order), checked_install: checkedInstallLine(order) }
  if (json === true) return out(JSON.stringify({ ...key, ...lines }, null, 2))
  out(`${key.fingerprint} ${words}`)
  out(`file      ${key.file ?? 'none: the key is in the database, encrypted'}`)
  out(`rotations ${key.rotations}`)
  out('')
  out('Install over TLS, or on this machine:')
  out(`  ${lines.install}`)
  out('Install over a way that somebody may change; the line checks the script before any of it runs:')
  out(`  ${lines.checked_install}`)
}
