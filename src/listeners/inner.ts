/** Where episodes call the service back. */
import type { RequestListener } from 'node:http'
import { servedUrl, type LoadedConfig } from '../config/index.ts'
import { listen } from '../http/index.ts'

/**
 * A certificate is for names, not for loopback, and episodes may not know its authority: where the port speaks https and no address is
 * configured, they get a port of this machine alone.
 */
export async function openInner({ config }: LoadedConfig, port: number, listener: RequestListener) {
  if (config.svc.tls === null || config.svc.served_url !== null) return { address: servedUrl(config, port), close: async () => undefined }
  return listen(listener, { host: '127.0.0.1', port: 0 })
}
