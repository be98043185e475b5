/**
 * HTTP: route table, authentication, body limits, handlers of about ten lines, status of a refusal.
 * Does not hold a rule that is not about HTTP.
 */
export { Authenticator, type ConfiguredTokens } from './credentials/auth.ts'
export { cookieName } from './credentials/cookies.ts'
export { WrongTokens } from './credentials/wrong-tokens.ts'
export { Bodies, type HeldBytes } from './bodies/index.ts'
export { makeListener } from './listener.ts'
export type { LineStyle } from './log/log-lines.ts'
export { makeLog, openLog, screenedLog, type Log, type LogLevel } from './log/log.ts'
export { Metrics, type Counted, type ListenerCounts } from './metrics.ts'
export { addressText, listen, type TlsPair } from './server.ts'
export type { HttpServices, SignInDesk, TrafficRegistry, TrafficScenario, TrafficServices } from './services.ts'
export { makeTrafficListener, type KnownScenarios, type WantedScenario } from './traffic-listener.ts'
