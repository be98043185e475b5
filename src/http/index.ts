/**
 * HTTP: route table, pass, scope, body limit, handlers of about ten lines, status of a refusal.
 * Does not hold a rule that is not about HTTP.
 */
export { Bodies } from './bodies/index.ts'
export type { Door } from './door.ts'
export { makeListener } from './listener.ts'
export { makeLog, type Log } from './log.ts'
export { Metrics } from './metrics.ts'
export { Keys } from './pass.ts'
export { listen } from './server.ts'
