/** A service whose traces go to the test's collector. */
import { onTestFinished } from 'vitest'
import { startCollector, type CollectedSpan } from './collector.ts'
import type { Settings } from './settings.ts'
import { world } from './world.ts'

export async function traced(settings: Settings = {}) {
  const collector = await startCollector()
  onTestFinished(() => collector.close())
  const here = await world({ settings: { 'traces.endpoint': collector.url, ...settings } })
  let closing: Promise<void> | null = null
  /** Stops the service and returns all spans. */
  const over = async (): Promise<readonly CollectedSpan[]> => {
    await (closing ??= here.close())
    return collector.spans
  }
  onTestFinished(async () => void (await over()))
  return { here, collector, over }
}

/** The one span of that kind. */
export function only(spans: readonly CollectedSpan[], kind: number): CollectedSpan {
  const [found, ...others] = spans.filter((span) => span.kind === kind)
  if (found === undefined || others.length > 0)
    throw new Error(`one span of kind ${kind} was expected among ${spans.map(({ name }) => name).join()}`)
  return found
}
