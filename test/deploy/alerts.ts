/** For every alert, series that make it fire and series that do not: values of every minute, in the notation of promtool's tests. */

export const INSTANCE = 'gateway:8900'

/** By name and labels; the job and the instance are added. */
type Series = Readonly<Record<string, string>>

export interface AlertCase {
  /** When the rule is looked at. */
  readonly at: string
  readonly fires: Series
  /** Of the alert, beside those of its rule. */
  readonly labels: Readonly<Record<string, string>>
  readonly quiet: readonly Series[]
}

const ONE = { instance: INSTANCE, job: 'svc' }
const SUMMED = { instance: INSTANCE }
const DAY_SECONDS = 86_400

const requests = (failed: number, good: number): Series => ({
  'svc_request_seconds_count{route="/v1/messages",status="502"}': `0+${failed}x60`,
  'svc_request_seconds_count{route="/v1/messages",status="200"}': `0+${good}x60`,
})

const steps = (failed: number, published: number): Series => ({
  'svc_training_steps_total{result="failed"}': `0+${failed}x60`,
  'svc_training_steps_total{result="published"}': `0+${published}x60`,
})

const deliveries = (failed: number, delivered: number): Series => ({
  'svc_webhook_deliveries_total{webhook="chat",result="failed"}': `0+${failed}x60`,
  'svc_webhook_deliveries_total{webhook="chat",result="delivered"}': `0+${delivered}x60`,
})

/** It fires for a counter that grows once, and not for one that stands. */
const counter = (name: string, at: string, labels: AlertCase['labels']): AlertCase => ({
  at,
  fires: { [name]: '0+0x5 1+0x60' },
  labels,
  quiet: [{ [name]: '7+0x60' }, { [name]: '0+0x60' }],
})

export const ALERTS: Readonly<Record<string, AlertCase>> = {
  SvcDown: { at: '5m', fires: { 'up{}': '1 0+0x10' }, labels: ONE, quiet: [{ 'up{}': '1 1 1 0 0 1 1' }, { 'up{}': '1+0x10' }] },
  SvcStoreNotWritable: {
    at: '5m',
    fires: { 'svc_store_writable{}': '1 0+0x10' },
    labels: ONE,
    quiet: [{ 'svc_store_writable{}': '1+0x10' }, { 'svc_store_writable{}': '0 0 1 1 1 0 0' }],
  },
  SvcManyErrors: { at: '20m', fires: requests(10, 90), labels: SUMMED, quiet: [requests(4, 96), requests(0, 100)] },
  SvcStreamsInterrupted: {
    at: '30m',
    fires: { 'svc_streams_interrupted_total{}': '0+12x60' },
    labels: ONE,
    quiet: [{ 'svc_streams_interrupted_total{}': '0+5x60' }],
  },
  SvcListenersMissing: {
    at: '5m',
    fires: { 'svc_listeners{}': '2 1+0x10', 'svc_listeners_wanted{}': '2+0x10' },
    labels: ONE,
    quiet: [{ 'svc_listeners{}': '2 1 2 2 2 1', 'svc_listeners_wanted{}': '2+0x10' }],
  },
  SvcRecordsEvicted: counter('svc_records_lost_total{}', '30m', ONE),
  SvcStepsFail: { at: '1h', fires: steps(1, 0), labels: ONE, quiet: [steps(1, 2), steps(0, 1)] },
  SvcUnpricedCalls: counter('svc_training_unpriced_calls_total{}', '30m', ONE),
  SvcRequestsLimited: counter('svc_requests_limited_total{code="cost_limit"}', '10m', SUMMED),
  SvcWrongTokens: {
    at: '20m',
    fires: { 'svc_requests_unauthorized_total{code="unauthorized"}': '0+90x60' },
    labels: SUMMED,
    quiet: [{ 'svc_requests_unauthorized_total{code="unauthorized"}': '0+30x60' }],
  },
  SvcWebhookFails: {
    at: '1h',
    fires: deliveries(1, 0),
    labels: { ...ONE, webhook: 'chat', result: 'failed' },
    quiet: [deliveries(1, 1), deliveries(0, 0)],
  },
  SvcCertificateExpires: {
    at: '2h',
    fires: { 'svc_tls_certificate_expiry_timestamp_seconds{}': `${13 * DAY_SECONDS}+0x200` },
    labels: ONE,
    quiet: [{ 'svc_tls_certificate_expiry_timestamp_seconds{}': `${15 * DAY_SECONDS}+0x200` }],
  },
  SvcLogLinesDropped: counter('svc_log_lines_dropped_total{}', '10m', ONE),
  SvcSpansDropped: counter('svc_spans_dropped_total{}', '10m', ONE),
}
