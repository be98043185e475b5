/** Traces as OpenTelemetry's own collector reads them: what it sends on is what it understood. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { startCollector } from '../support/collector.ts'
import { startOtelCollector } from '../support/otel-collector.ts'
import { world } from '../support/world.ts'

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly name: string
        readonly traceId: string
        readonly spanId: string
        readonly parentSpanId?: string
        readonly attributes?: readonly Attribute[]
      }[]
    }[]
  }[]
}

/** As JSON spells it: numbers that are whole are texts. */
const byKey = (attributes: readonly Attribute[] = []): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

const spansIn = (text: string) => {
  const { resourceSpans }: Sent = JSON.parse(text)
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ attributes, ...span }) => ({
        ...span,
        service: byKey(resource.attributes)['service.name'],
        attributes: byKey(attributes),
      })),
    ),
  )
}

/** A service in front of the collector, which sends on to a server here. */
async function collected(settings: Readonly<Record<string, string | number>> = {}) {
  const behind = await startCollector()
  onTestFinished(() => behind.close())
  behind.answer((response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  const collector = await startOtelCollector(behind.url)
  onTestFinished(() => collector.stop())
  const here = await world({ settings: { 'traces.endpoint': collector.url, ...settings } })
  /** Ends the service, which sends everything first. */
  const over = async () => {
    await here.close()
    return behind.posts.flatMap(({ text }) => spansIn(text))
  }
  return { here, over }
}

const scenario = { 'x-svc-scenario': 'traced' }
const body = { model: 'm', messages: [{ role: 'user', content: 'hello' }], max_tokens: 7 }

describe('the collector of OpenTelemetry', () => {
  it('takes an exchange with its tokens and cost, and a report with its score', async () => {
    const { here, over } = await collected({ 'limits.prices.m.input': 2_000_000, 'limits.prices.m.output': 3_500_000 })
    const answer = await here.post('/v1/chat/completions', body, scenario)
    const receipt = answer.headers['x-svc-agent-record-id']
    expect((await here.post('/svc/report', { references: [receipt], score: 0.75 }, scenario)).status).toBe(200)
    const spans = await over()
    const request = spans.find(({ name }) => name === 'POST /v1/chat/completions')
    const call = spans.find(({ name }) => name === 'chat m')
    const report = spans.find(({ name }) => name === 'POST /svc/report')
    expect(request).toMatchObject({ service: 'svc', attributes: { 'svc.scenario': 'traced', 'svc.receipt': receipt } })
    expect(call).toMatchObject({
      traceId: request?.traceId,
      parentSpanId: request?.spanId,
      attributes: { 'gen_ai.usage.input_tokens': '1', 'gen_ai.usage.output_tokens': '1', 'gen_ai.usage.cost': 5.5 },
    })
    expect(report).toMatchObject({
      attributes: { 'gen_ai.evaluation.score.value': 0.75, 'svc.reported_receipts': { values: [{ stringValue: receipt }] } },
    })
  })

  it('takes what hostile callers put into names and numbers', async () => {
    const { here, over } = await collected()
    const model = `\u{0}"}]\u{202E}\uD800${'m'.repeat(3000)}`
    await here.post('/v1/chat/completions', { ...body, model, max_tokens: 1e308, temperature: -1e308 }, scenario)
    await here.post('/v1/chat/completions', body, { 'x-svc-scenario': encodeURIComponent('日本 "x"') })
    const spans = await over()
    expect(spans.filter(({ name }) => name === 'POST /v1/chat/completions')).toHaveLength(2)
    expect(spans.filter(({ name }) => name.startsWith('chat '))).toHaveLength(2)
  })
})
