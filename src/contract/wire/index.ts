/**
 * Wire: every request and answer of the interface as one schema, and its type. The server, the client, the console and the OpenAPI document
 * take their shapes from here. A schema that a route names is exported as `<name>Schema`, and is a component of the document.
 */
export * from './access.ts'
export * from './fleet.ts'
export * from './harness.ts'
export * from './inference.ts'
export * from './own-evolution.ts'
export * from './records.ts'
export * from './releases.ts'
export * from './requires.ts'
export * from './scenarios.ts'
export * from './service.ts'
export * from './tasks.ts'
export type { ModelApi, RequestType, TrainingMode, WireType } from './fields.ts'
