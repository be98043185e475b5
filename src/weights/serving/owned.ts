/** An engine of which this service sees only its own adapters: their names begin with its prefix, and nobody else's are touched. */
import type { Capture, Engine } from '../../contract/index.ts'

const NO_LIMITS = { rankMax: null, adaptersMax: null, modules: null }

export function ownedEngine(engine: Engine, prefix: string): Engine {
  const outside = (name: string): string => `${prefix}.${name}`
  const outsideOf = (adapter: string | null): string | null => (adapter === null ? null : outside(adapter))
  /** What bears another name stays as it is: no scenario of this service serves it. */
  const inside = (name: string): string => (name.startsWith(outside('')) ? name.slice(outside('').length) : name)
  const insideOf = <T extends Capture>(capture: T): T => ({
    ...capture,
    spans: capture.spans.map((span) => ({ ...span, adapter: span.adapter === null ? null : inside(span.adapter) })),
  })
  return {
    capacity: engine.capacity,
    moves: engine.moves,
    model: (signal) => engine.model(signal),
    limits: async (signal) => (await engine.limits?.(signal)) ?? NO_LIMITS,
    load: ({ name, directory }, signal) => engine.load({ name: outside(name), directory }, signal),
    unload: (name, signal) => engine.unload(outside(name), signal),
    adapters: async (signal) => (await engine.adapters(signal)).filter((name) => inside(name) !== name).map(inside),
    move: (from, to) => engine.move?.(outsideOf(from), outsideOf(to)),
    pause: (signal) => engine.pause(signal),
    resume: (signal) => engine.resume(signal),
    health: (signal) => engine.health(signal),
    generate: async (call) => insideOf(await engine.generate({ ...call, adapter: outsideOf(call.adapter) })),
    score: (tokens, adapter, signal) => engine.score(tokens, outsideOf(adapter), signal),
    chat: async (call) => {
      const said = await engine.chat({ ...call, adapter: outsideOf(call.adapter) })
      return said.kind === 'answer' ? { ...said, capture: insideOf(said.capture) } : said
    },
    encode: async (body, answer, signal) => (await engine.encode?.(body, answer, signal)) ?? null,
    status: () => ({ ...engine.status(), adapter_prefix: prefix }),
    close: () => engine.close(),
  }
}
