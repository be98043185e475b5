import { describe, expect, it } from 'vitest'
import { sendJson, type Script } from '../../../test/support/upstream.ts'
import type { RuntimeCall } from '../../../src/contract/index.ts'
import type { SeveralUpstreams } from './several.ts'
import { open, provider, refuses } from '../../../test/support/several-upstreams.ts'

const lists =
  (...ids: readonly string[]): Script =>
  (_received, response) =>
    sendJson(response, 200, { object: 'list', data: ids.map((id) => ({ id, object: 'model', owned_by: 'vendor' })) })
const listOf = async (several: SeveralUpstreams, { model, headers, signal }: RuntimeCall) => {
  const { body, status } = await several.models({ path: '/v1/models', headers, model, signal })
  expect(status).toBe(200)
  const { data }: { data: readonly { readonly id: string; readonly owned_by: string }[] } = JSON.parse(Buffer.from(body).toString())
  return data.map(({ id, owned_by }) => `${id} ${owned_by}`)
}

describe('the list of models', () => {
  it('is theirs together: each name once, with aliases, without what they may not be asked for', async () => {
    const [one, other] = [await provider(lists('a', 'b', 'secret')), await provider(lists('b', 'c'))]
    const { several, call } = open({
      upstreams: {
        one: { url: one.url, models: ['a', 'b'], aliases: { fast: 'a', odd: 'unlisted' } },
        other: { url: other.url, priority: 1 },
      },
    })
    expect(await listOf(several, call())).toEqual(['a vendor', 'b vendor', 'fast vendor', 'odd one', 'c vendor'])
    expect(await listOf(several, call({ names: ['other'] }))).toEqual(['b vendor', 'c vendor'])
  })

  it('leaves out an upstream that does not answer, but for what the configuration names', async () => {
    const [one, other] = [await provider(refuses(500)), await provider(lists('c'))]
    const { several, call } = open({ upstreams: { one: { url: one.url, models: ['a', 'x-*'] }, other: { url: other.url } } })
    expect(await listOf(several, call())).toEqual(['a one', 'c vendor'])
  })

  it('may be very long', async () => {
    const data = Array.from({ length: 150_000 }, (_, at) => ({ id: `m${at}` }))
    const one = await provider((_received, response) => sendJson(response, 200, { data }))
    const { several, call } = open({ upstreams: { one: { url: one.url } } })
    expect(await listOf(several, call())).toHaveLength(150_000)
  })

  it('is refused where nothing is known of any', async () => {
    const one = await provider(refuses(401))
    const { several, call } = open({ upstreams: { one: { url: one.url } } })
    await expect(several.models(call())).rejects.toMatchObject({ code: 'upstream_refused' })
  })

  it('is read to its last page, and in the words of another vendor', async () => {
    const paged = await provider(({ url }, response) =>
      url.includes('after_id=p1')
        ? sendJson(response, 200, { data: [{ id: 'p2' }], has_more: false, last_id: 'p2' })
        : sendJson(response, 200, { data: [{ id: 'p1' }], has_more: true, last_id: 'p1' }),
    )
    const named = await provider((_received, response) => sendJson(response, 200, { models: [{ name: 'models/g-1' }] }))
    const { several, call } = open({ upstreams: { paged: { url: paged.url }, named: { url: named.url } } })
    expect(await listOf(several, call())).toEqual(['p1 undefined', 'p2 undefined', 'g-1 google'])
  })
})
