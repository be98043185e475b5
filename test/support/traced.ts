/** A service whose traces go to the test's collector. */
import { onTestFinished } from 'vitest'
import { startCollector, type CollectedSpan, type Collector } from './collector.ts'
import type { Settings } from './settings.ts'
import { world, type World } from './world.ts'

interface Traced {
  readonly here: World
  readonly collector: Collector
  /** Stops the service and returns all spans. */
  readonly over: () => Promise<readonly CollectedSpan[]>
}

export async function traced(settings: Settings = {}, environment: Readonly<Record<string, string>> = {}): Promise<Traced> {
  const collector = await startCollector()
  onTestFinished(() => collector.close())
  const here = await world({ settings: { 'traces.endpoint': collector.url, ...settings }, environment })
  const closed = once(() => here.close())
  onTestFinished(closed)
  const over = async (): Promise<readonly CollectedSpan[]> => {
    await closed()
    return collector.spans
  }
  return { here, collector, over }
}

function once(act: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | null = null
  return () => (done ??= act())
}

/** The one span of that kind. */
export function only(spans: readonly CollectedSpan[], kind: number): CollectedSpan {
  const [found, ...others] = spans.filter((span) => span.kind === kind)
  if (found === undefined || others.length > 0)
    throw new Error(`one span of kind ${kind} was expected among ${spans.map(({ name }) => name).join()}`)
  return found
}
