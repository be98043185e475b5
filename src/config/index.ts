/**
 * Config: reads the file, the environment and the plug-ins once, and returns frozen values.
 * Does not repeat a default: each stands in the schema alone.
 */
export { localUrl, servedUrl } from './checks.ts'
export { readCommandLine, type CommandLineReading } from './command-line.ts'
export type { Environment } from './interpolate.ts'
export { allKeys } from './keys.ts'
export { loadConfig, type LoadedConfig } from './load.ts'
export { isLoopback } from './loopback.ts'
export { nearest } from './nearest.ts'
export { loadPlugin, loadRecipe, type Builtins } from './plugins.ts'
export { printConfig, printConfigJson, shownConfig } from './print.ts'
export { ConfigProblem } from './problem.ts'
export { reloadConfig } from './reload.ts'
export { configJsonSchema, configReference } from './reference.ts'
/** @public */
export type { Config } from './schema.ts'
export { TIMER_SECONDS_MAX } from './types.ts'
