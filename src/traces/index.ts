/**
 * Traces: records requests and training steps as OpenTelemetry spans, and sends them to a collector in the background.
 * Does not delay anything, and is not loaded where no collector is configured.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { begunContext, continuedContext } from './context.ts'
import { Exporter, type ExporterSettings, type SpanCounts } from './exporter.ts'
import { RequestSpans } from './request.ts'
import type { SpanSink } from './span.ts'
import { StepSpans } from './step.ts'

interface TraceSettings extends ExporterSettings, Pick<SpanSink, 'scheme' | 'costOf'> {
  /** The share of sampled traces among those that begin here. */
  readonly sampleRatio: number
  /** Whether spans include prompts and answers. */
  readonly isWithContent: boolean
}

export interface Traces {
  request(headers: IncomingHttpHeaders): RequestSpans
  readonly step: (scenario: string, component: string, requestId: string | null) => StepSpans
  /** SpanCounts of delivered and dropped spans. */
  readonly spans: SpanCounts
  /** Sends what is left, for a few seconds at most. */
  close(): Promise<void>
}

export function openTraces({ sampleRatio, isWithContent, scheme, costOf, ...destination }: TraceSettings): Traces {
  const exporter = new Exporter(destination)
  const sink: SpanSink = { write: (count, make) => exporter.add(count, make), isWithContent, scheme, costOf }
  return {
    request: (headers) => new RequestSpans(sink, continuedContext(headers, sampleRatio)),
    step: (scenario, component, requestId) => new StepSpans(sink, begunContext(sampleRatio), { scenario, component, requestId }),
    spans: exporter.counts,
    close: () => exporter.close(),
  }
}
