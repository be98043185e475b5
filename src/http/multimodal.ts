/** The multimodal routes: JSON in, the gateway's status, content type and bytes out. Not recorded. */
import { HEADER, invalid, unsupported } from '../contract/index.ts'
import { refusalOfUpstream } from '../inference/index.ts'
import { whileConnected } from './gone.ts'
import type { Handler } from './reply.ts'
import { headerText, scenarioOf } from './scope.ts'

export function relay(route: string): Handler {
  return async ({ door, visit, bytes }) => {
    const name = scenarioOf(visit.request)
    visit.note.scenario = name
    const { facts, bytes: body } = await door.bodies.line(await bytes(), {})
    if (facts['stream'] === true) throw invalid('stream_unsupported', 'stream: multimodal calls are not streamed; leave it out')
    return door.registry.useOrCreate(name, headerText(visit.request, HEADER.release), async ({ binding }) => {
      if (binding.gateway === undefined)
        throw unsupported('no_gateway', 'this deployment has no multimodal gateway; configure inference.gateway')
      const { gateway } = binding
      const answer = await whileConnected(visit.request, (signal) => gateway.relay(route, body, signal))
      if (answer.status >= 300) throw refusalOfUpstream(answer)
      return {
        status: answer.status,
        headers: { 'content-type': harmless(answer.headers['content-type'] ?? 'application/json') },
        body: answer.body,
      }
    })
  }
}

/** Sounds, pictures and data keep their type. What a browser could run comes as bytes: nobody asked for a page. */
function harmless(type: string): string {
  return /html|xml|javascript|ecmascript|multipart/i.test(type) ? 'application/octet-stream' : type
}
