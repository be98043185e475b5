/**
 * Contract: every noun of the interface as a type, every plug-in as an interface, every limit as a number, every failure as a kind.
 * Does not import any other room, keep anything, or know HTTP.
 */
export * from './contents.ts'
export * from './define.ts'
export * from './episodes.ts'
export * from './errors.ts'
export * from './harness.ts'
export * from './identity.ts'
export * from './json.ts'
export * from './limits.ts'
export * from './names.ts'
export * from './outcomes.ts'
export * from './powers.ts'
export * from './provisional.ts'
export * from './recording.ts'
export * from './roles.ts'
export * from './task-words.ts'
export type * from './evolution.ts'
export type * from './mining.ts'
export type * from './nouns.ts'
export type * from './plugins.ts'
export type * from './stores.ts'
export type * from './training.ts'
export type * from './weights.ts'
export type * from './wire/index.ts'
/** The client package has the environment of the programs that the service starts, since its programs start others too. */
export { childEnvironment, PACKAGE_SOURCES } from '@svc-ai/client/environment'
