/** One question to a candidate: a pause for somebody's new weights may break it off, and then it is asked again. */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  INTERRUPTED_RETRY_FIRST_SECONDS,
  INTERRUPTED_RETRY_MAX_SECONDS,
  upstream,
  type Engine,
  type EngineChat,
  type JsonObject,
} from '../../contract/index.ts'

export async function askCandidate(engine: Engine, call: EngineChat): Promise<JsonObject> {
  for (let pause = INTERRUPTED_RETRY_FIRST_SECONDS; ; pause = Math.min(pause * 2, INTERRUPTED_RETRY_MAX_SECONDS)) {
    const said = await engine.chat(call)
    if (said.kind === 'answer') return said.answer
    if (said.kind === 'refused')
      throw upstream('engine_refused', 'the engine refused a request of the trial', { upstreamStatus: said.status })
    await sleep(pause * 1000, undefined, { signal: call.signal })
  }
}
