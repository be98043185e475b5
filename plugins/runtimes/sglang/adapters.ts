/** The adapters that an SGLang server holds: loaded, unloaded, and counted by its own account. */
import { unavailable, upstream, type AdapterFolder, type Refusal } from '../../../src/contract/index.ts'
import { filledText, isList } from '../../../src/dialects/index.ts'
import type { EngineHttp, Reply } from '../common/http.ts'
import type { Models } from '../common/models.ts'
import { failed, isHeldAlready, isLost, refusedAdapter, wholeOf } from '../common/replies.ts'

export class SglangAdapters {
  readonly #http: EngineHttp
  /** As of its latest reply: older servers say it nowhere else. */
  #latest: ReadonlySet<string> = new Set()

  constructor(http: EngineHttp) {
    this.#http = http
  }

  async load({ name, directory }: AdapterFolder, signal: AbortSignal): Promise<void> {
    const reply = await this.#http.post('/load_lora_adapter', { lora_name: name, lora_path: directory, pinned: false }, signal)
    // One name is one adapter for ever: the reply of an earlier try was lost, and what it loaded is the same.
    if (isHeldAlready(reply)) this.#latest = new Set([...this.#latest, name])
    else if (reply.status >= 400 || wholeOf(reply)['success'] !== true) throw refusalOfLoad(reply)
    else this.#note(reply, (held) => held.add(name))
  }

  async unload(name: string, signal: AbortSignal): Promise<void> {
    const reply = await this.#http.post('/unload_lora_adapter', { lora_name: name }, signal)
    if (isLost(reply, name)) return this.forget(name)
    if (reply.status >= 400 || wholeOf(reply)['success'] !== true) throw failed(reply)
    this.#note(reply, (held) => held.delete(name))
  }

  /** A list that names parents is the truth, also after a restart; without them the latest reply is all there is. */
  held({ adapters, namesParents }: Models): readonly string[] {
    return namesParents ? adapters : [...this.#latest]
  }

  forget(name: string): void {
    this.#latest = new Set([...this.#latest].filter((one) => one !== name))
  }

  /** `loaded_adapters` has names as keys or as a list, by version. */
  #note(reply: Reply, otherwise: (held: Set<string>) => void): void {
    const said = reply.json?.['loaded_adapters'] ?? null
    const held = new Set(said === null ? this.#latest : isList(said) ? said.flatMap((one) => filledText(one) ?? []) : Object.keys(said))
    if (said === null) otherwise(held)
    this.#latest = held
  }
}

function refusalOfLoad(reply: Reply): Refusal {
  if (reply.status === 404 || /LoRA is not enabled/i.test(reply.text))
    return upstream(
      'engine_without_lora',
      'the engine takes no adapters; start it with --enable-lora, --max-lora-rank and --lora-target-modules',
    )
  if (/maximum number of loaded lora/i.test(reply.text))
    return unavailable(
      'engine_full',
      "the engine holds as many adapters as it may; its --max-loaded-loras must not be below this runtime's capacity",
    )
  return reply.status >= 500 ? failed(reply) : refusedAdapter(reply)
}
