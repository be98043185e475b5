/** The multimodal routes: they take JSON and answer with the gateway's status, content type and bytes. Nothing is recorded. */
import { HEADER, invalid, unsupported } from '../../contract/index.ts'
import { refusalOfUpstream } from '../../inference/index.ts'
import type { Scenario } from '../../scenarios/index.ts'
import { noteImplicitScenario } from './audit.ts'
import type { Handler } from '../context.ts'
import { withinLimits } from './limited.ts'
import type { HttpReply } from '../reply.ts'
import { headerText, scenarioOf } from '../request-fields.ts'
import { clientSignal } from '../response-stream.ts'

export function relay(route: string): Handler {
  return async (context) => {
    const { services } = context
    const name = scenarioOf(context.request)
    context.logFields.scenario = name
    context.recording = context.services.recorder.modeOf(name)
    return withinLimits(context, name, async ({ begin }) => {
      const { facts, pieces } = await services.bodies.line(await context.readBytes(), {})
      await begin()
      if (facts['stream'] === true) throw invalid('stream_unsupported', 'stream: multimodal calls are not streamed; leave it out')
      const ask = async ({ binding }: Scenario): Promise<HttpReply> => {
        if (binding.gateway === undefined)
          throw unsupported('no_gateway', 'this deployment has no multimodal gateway; configure inference.gateway')
        const { gateway } = binding
        const answer = await gateway.relay(route, pieces.joined(), clientSignal(context.response))
        if (answer.status >= 300) throw refusalOfUpstream(answer, null)
        return {
          status: answer.status,
          headers: { 'content-type': harmless(answer.headers['content-type'] ?? 'application/json') },
          body: answer.body,
        }
      }
      const release = headerText(context.request, HEADER.release)
      return services.registry.useOrCreate(name, release, ask, (row) => noteImplicitScenario(context, name, row))
    })
  }
}

/** Sounds, pictures and data keep their type. A type that a browser could run becomes plain bytes. */
function harmless(type: string): string {
  return /html|xml|javascript|ecmascript|multipart/i.test(type) ? 'application/octet-stream' : type
}
