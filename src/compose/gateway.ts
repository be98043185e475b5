/** Opens the gateway that multimodal calls are relayed through. */
import type { LoadedConfig } from '../config/index.ts'
import type { Gateway } from '../contract/index.ts'
import type { Load } from './load.ts'
import { proxySetting } from './runtime.ts'

export async function openGateway({ config: { inference }, proxies }: LoadedConfig, load: Load): Promise<Gateway | null> {
  if (inference.gateway === null) return null
  const { url, api_key } = inference.gateway
  return (await load('gateway', 'relay')).make({
    url,
    api_key,
    timeout_s: inference.timeout_s,
    max_answer_bytes: inference.max_answer_bytes,
    ...proxySetting(proxies),
  })
}
