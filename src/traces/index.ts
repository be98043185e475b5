/**
 * Traces: records requests and training steps as OpenTelemetry spans, and sends them to a collector in the background.
 * Does not delay anything, and is not loaded where no collector is configured.
 */
export { openTraces, type Traces } from './traces.ts'
