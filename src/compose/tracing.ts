/** Opens traces. */
import type { LoadedConfig } from '../config/index.ts'
import type { Log } from '../http/index.ts'
import { wordsOf } from '../kit/index.ts'
import { PriceTable } from '../limits/index.ts'
import type { Traces } from '../traces/index.ts'

/** Those that traces tell the costs of calls by. */
export const openPrices = ({ config }: LoadedConfig): PriceTable => new PriceTable(config.limits.prices)

/** The room is loaded only where a collector is configured. */
export async function openTracing({ config: { svc, traces } }: LoadedConfig, prices: PriceTable, log: Log): Promise<Traces | undefined> {
  const { endpoint, headers, service_name: serviceName, sample_ratio: sampleRatio, content: isWithContent } = traces
  if (endpoint === null) return undefined
  const { openTraces } = await import('../traces/index.ts')
  const warn = (message: string, error: unknown): void => log.write('warn', 'background_error', { message, error: wordsOf(error) })
  const costOf = prices.listedCostOf.bind(prices)
  const scheme = svc.tls === null ? 'http' : 'https'
  return openTraces({ endpoint, headers, serviceName, sampleRatio, isWithContent, warn, scheme, costOf })
}
