import { describe, expect, it } from 'vitest'
import { gatewayConformance } from '../../../conformance/index.ts'
import { startUpstream } from '../../../test/support/upstream.ts'
import relay from './index.ts'

gatewayConformance({ describe, it, make: (url) => relay.plugin.make({ url }) })

describe('the relay', () => {
  it("asks below the gateway's own path, with the gateway's own key", async () => {
    const upstream = await startUpstream()
    const gateway = await relay.plugin.make({ url: `${upstream.url}/base/`, api_key: 'sk-gateway' })
    await gateway.relay('images/generations', Buffer.from('{}'), new AbortController().signal)
    const [received] = upstream.received
    expect([received?.url, received?.headers.authorization]).toEqual(['/base/v1/images/generations', 'Bearer sk-gateway'])
    await upstream.close()
  })

  it.each([
    [{}, 'gateway_url'],
    [{ url: 'http://127.0.0.1:1', timeout_s: 'soon' }, 'gateway_timeout'],
  ])('refuses settings it cannot use', async (config, code) => {
    await expect(async () => relay.plugin.make(config)).rejects.toMatchObject({ kind: 'invalid', code })
  })
})
