/** Traces beside the traffic: their destination, their cost, a collector that does not answer, and the spans of steps. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LEDGER_RECIPE } from '../spec/support/helpers.ts'
import { fresh, gateIn } from '../spec/support/trainee.ts'
import { KIND, startCollector } from '../support/collector.ts'
import { serveCommand } from '../support/command.ts'
import { makePlace } from '../support/place.ts'
import type { Settings } from '../support/settings.ts'
import { traced } from '../support/traced.ts'
import { until } from '../support/wait.ts'
import { ownWorld, send, world } from '../support/world.ts'

const scenario = { 'x-svc-scenario': 'traced' }
const chat = '/v1/chat/completions'
const body = { model: 'm', messages: [] }

describe('traces', () => {
  it("are configured by OpenTelemetry's own variables", async () => {
    const collector = await startCollector()
    onTestFinished(() => collector.close())
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
      OTEL_SERVICE_NAME: 'mine',
    }
    const here = await world({ environment })
    await here.get('/healthz')
    await here.close()
    expect([collector.spans[0]?.service, collector.posts[0]?.headers['x-key']]).toEqual(['mine', 'a b'])
  })

  it('are counted in the metrics, and only where they are made', async () => {
    const { here, collector } = await traced()
    expect((await here.get('/metrics')).text).toContain('\nsvc_spans_exported_total 0\n')
    // A full batch leaves at once.
    for (let count = 0; count < 512; count += 64) await Promise.all(Array.from({ length: 64 }, () => here.get('/healthz')))
    await until(async () => /^svc_spans_exported_total 512$/m.test((await here.get('/metrics')).text))
    expect((await here.get('/metrics')).text).toContain('\nsvc_spans_dropped_total 0\n')
    expect(collector.spans.length).toBe(512)
    const without = await ownWorld()
    expect((await without.get('/metrics')).text).not.toContain('svc_spans')
  })

  it.each(['dead', 'hanging'] as const)('cost the callers of a %s collector nothing', async (way) => {
    const { here, collector } = await traced()
    if (way === 'dead') await collector.close()
    else collector.answer(() => undefined)
    // More than one batch on its way and a full queue hold together.
    for (let count = 0; count < 42; count += 1)
      for (const { status } of await Promise.all(Array.from({ length: 64 }, () => here.get('/healthz')))) expect(status).toBe(200)
    expect((await here.get('/metrics')).text).toMatch(/^svc_spans_exported_total 0$/m)
    expect(here.log).toContainEqual(
      expect.objectContaining({ level: 'warn', event: 'background_error', message: expect.stringMatching(/ dropped$/) }),
    )
    // A hanging collector would delay the shutdown.
    await collector.close()
  })

  it('of a service that is stopped by a signal arrive before it ends', async () => {
    const collector = await startCollector()
    onTestFinished(() => collector.close())
    const place = await makePlace()
    const { command, address } = await serveCommand(place.args({ 'traces.endpoint': collector.url }))
    await send(address, 'POST', chat, { headers: scenario, body })
    command.signal('SIGTERM')
    expect(await command.ended).toMatchObject({ code: 0 })
    expect(collector.spans.map(({ name }) => name)).toEqual([`POST ${chat}`, 'chat m'])
  })
})

describe('a service without a collector', () => {
  const rooms = { NODE_OPTIONS: `--import ${pathToFileURL(join(import.meta.dirname, '..', 'fixtures', 'loaded-rooms.ts')).href}` }

  /** What the service printed, from its start through one exchange to its end. */
  async function printed(settings: Settings): Promise<string> {
    const place = await makePlace()
    const { command, address } = await serveCommand(place.args(settings), rooms)
    await send(address, 'POST', chat, { headers: scenario, body })
    command.signal('SIGTERM')
    const { err } = await command.ended
    expect(err).toContain('room http is loaded')
    expect(place.upstream.received).toHaveLength(1)
    return `${err}${String(place.upstream.received[0]?.headers['traceparent'])}`
  }

  it('does not even load the room, and says nothing of traces to the model', async () => {
    expect(await printed({})).not.toMatch(/room traces is loaded|00-[0-9a-f]{32}/)
    expect(await printed({ 'traces.endpoint': 'http://127.0.0.1:9' })).toMatch(/room traces is loaded[^]*00-[0-9a-f]{32}/)
  })
})

describe('a training step', () => {
  const training = { recipe: 'ledger', 'recipes.ledger.use': LEDGER_RECIPE }

  it('is a trace of its own, with its phases, its row, and the record it is about', async () => {
    const { here, over } = await traced(training)
    const trainee = await fresh(here, 'manual')
    const gate = gateIn(here)
    const asked = await trainee.ask(`evaluate ${gate.path} won`)
    await trainee.reached(asked, 'evaluating')
    await gate.open()
    await trainee.row(1)
    const spans = await over()
    const [step, ...phases] = spans.filter(({ kind }) => kind === KIND.internal)
    expect(step).toMatchObject({ name: 'svc.step', status: {} })
    expect(step?.attributes).toEqual({
      'svc.scenario': trainee.name,
      'svc.train_record_id': asked,
      'svc.step': 1n,
      'svc.outcome': 'published',
      'svc.metrics.wins': 3,
      'svc.metrics.losses': 1,
      'svc.metrics.current_score': 1,
      'svc.metrics.candidate_score': 3,
    })
    expect(phases.map(({ name }) => name)).toEqual(['svc.step evaluating', 'svc.step settling'])
    for (const phase of phases) expect(phase).toMatchObject({ traceId: step?.traceId, parentSpanId: step?.spanId, status: {} })
    expect(phases[0]?.ended).toBe(phases[1]?.begun)
    const train = spans.find(({ name }) => name === 'POST /svc/train')
    expect(train?.attributes['svc.receipt']).toBe(asked)
  })

  it('that fails says why, in the phase it failed in', async () => {
    const { here, over } = await traced(training)
    const trainee = await fresh(here, 'manual')
    const gate = gateIn(here)
    await gate.open()
    await trainee.ask(`propose ${gate.path} throw`)
    await trainee.row(1)
    const spans = (await over()).filter(({ kind }) => kind === KIND.internal)
    const failed = { status: { code: 2, message: expect.stringContaining('told to throw') } }
    expect(spans).toMatchObject([
      { name: 'svc.step', ...failed, attributes: { 'svc.outcome': 'failed', 'error.type': 'step_failed' } },
      { name: 'svc.step proposing', ...failed },
      { name: 'svc.step settling', status: {} },
    ])
  })

  it('that the end of the service cuts off has no row', async () => {
    const { here, over } = await traced(training)
    const trainee = await fresh(here, 'manual')
    const gate = gateIn(here)
    await trainee.ask(`propose ${gate.path} add`)
    await gate.reached()
    const step = (await over()).find(({ name }) => name === 'svc.step')
    const status = { code: 2, message: 'the training worker was stopped' }
    expect(step).toMatchObject({ status, attributes: { 'svc.outcome': 'interrupted' } })
    expect(step?.attributes).not.toHaveProperty(['svc.step'])
  })
})
