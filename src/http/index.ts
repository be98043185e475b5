/**
 * HTTP: route table, authentication, body limits, handlers of about ten lines, status of a refusal.
 * Does not hold a rule that is not about HTTP.
 */
export { Authenticator } from './auth.ts'
export { Bodies } from './bodies/index.ts'
export { makeListener } from './listener.ts'
export { makeLog, screenedLog, type Log } from './log.ts'
export { Metrics } from './metrics.ts'
export { listen } from './server.ts'
export type { HttpServices, TrafficServices } from './services.ts'
