/** Adapters go in and out of a vLLM server by routes that it has only when it was started so. Success is a line of text. */
import { unavailable, upstream, type AdapterFolder, type Refusal } from '../../../src/contract/index.ts'
import type { EngineHttp, Reply } from '../common/http.ts'
import { failed, isHeldAlready, isLost, refusedAdapter } from '../common/replies.ts'

/** Never in place: an engine told so once reads the folder again with every step. */
export async function loadAdapter(http: EngineHttp, { name, directory }: AdapterFolder, signal: AbortSignal): Promise<void> {
  const reply = await http.post('/v1/load_lora_adapter', { lora_name: name, lora_path: directory, load_inplace: false }, signal)
  // One name is one adapter for ever: the reply of an earlier try was lost, and what it loaded is the same.
  if (reply.status < 400 || isHeldAlready(reply)) return
  if (isRouteOff(reply, name)) throw routeOff()
  if (/max_cpu_loras|max_loras|no free lora/i.test(reply.text)) throw full()
  throw reply.status >= 500 ? failed(reply) : refusedAdapter(reply)
}

export async function unloadAdapter(http: EngineHttp, name: string, signal: AbortSignal): Promise<void> {
  const reply = await http.post('/v1/unload_lora_adapter', { lora_name: name }, signal)
  if (reply.status < 400 || isLost(reply, name)) return
  throw isRouteOff(reply, name) ? routeOff() : failed(reply)
}

/** What the route itself refuses names the adapter. */
const isRouteOff = ({ status, text }: Reply, name: string): boolean => [403, 404, 405].includes(status) && !text.includes(name)

const routeOff = (): Refusal =>
  upstream(
    'engine_without_lora',
    'the engine loads no adapters while it runs; start it with VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 and --enable-lora',
  )

const full = (): Refusal =>
  unavailable('engine_full', "the engine holds as many adapters as it may; its --max-cpu-loras must not be below this runtime's capacity")
