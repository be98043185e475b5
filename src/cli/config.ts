/** `svc config print` and `svc config schema`: the effective values, and the possible ones. */
import { configJsonSchema, loadConfig, printConfig, printConfigJson, type LoadedConfig } from '../config/index.ts'
import { hiddenAsJson, showHidden } from '../kit/index.ts'
import { EXIT, type ConfigOptions, type Surroundings } from './surroundings.ts'

export async function configPrint(options: ConfigOptions, surroundings: Surroundings): Promise<number> {
  return printLoaded(await loadFor(options, surroundings), options, surroundings)
}

export function printLoaded(loaded: LoadedConfig, { json }: Pick<ConfigOptions, 'json'>, surroundings: Surroundings): number {
  surroundings.out(json === true ? hiddenAsJson(printConfigJson(loaded)) : showHidden(printConfig(loaded)))
  return EXIT.fine
}

export function configSchema(_: ConfigOptions, surroundings: Surroundings): number {
  surroundings.out(JSON.stringify(configJsonSchema(), null, 2))
  return EXIT.fine
}

export function loadFor(options: ConfigOptions, surroundings: Surroundings): Promise<LoadedConfig> {
  const file = options.config === undefined ? {} : { file: options.config }
  return loadConfig({ ...file, commandLine: options.commandLine, environment: surroundings.environment })
}
