/**
 * Traces: follows requests and training steps as OpenTelemetry spans, and sends them to a collector beside everything else.
 * Does not decide anything, hold anyone up, or get loaded where no collector is configured.
 */
export { openTraces, type Traces } from './traces.ts'
