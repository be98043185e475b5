/** What the writers of all client formats have in common: who speaks, which call is open, what it took. */
import { customInput } from './asked.ts'
import { NO_USAGE, type AnswerEnd, type AnswerPiece, type AnswerListener, type PieceWriter, type Usage } from './pieces.ts'

export interface OpenCall {
  readonly id: string
  readonly at: number
  readonly name: string
  readonly isCustom: boolean
  readonly namespace: string | null
  /** As far as it came; whole when the call closes. */
  input: string
}

export interface Speaker {
  readonly id: string
  readonly model: string
  readonly createdSeconds: number
}

export abstract class AnswerWriting implements PieceWriter {
  readonly to: AnswerListener
  speaker: Speaker
  usage: Usage = NO_USAGE
  #calls = 0
  #open: OpenCall | null = null
  #end: { readonly reason: AnswerEnd; readonly sequence?: string } = { reason: 'end' }
  #isRefused = false
  #hasBegun = false
  #isOver = false

  constructor(to: AnswerListener) {
    this.to = to
    this.speaker = { id: to.id, model: to.model, createdSeconds: to.nowSeconds }
  }

  *say(said: AnswerPiece): Iterable<Buffer> {
    if (this.#isOver) return
    if (said.kind === 'begin') {
      const { id, model, createdSeconds } = this.speaker
      this.speaker = { id: said.id ?? id, model: said.model ?? model, createdSeconds: said.createdSeconds ?? createdSeconds }
      return
    }
    if (said.kind === 'usage') {
      this.usage = said.usage
      return
    }
    // Counts that come with the beginning are part of it.
    if (!this.#hasBegun) yield* this.begin()
    this.#hasBegun = true
    switch (said.kind) {
      case 'refusal':
        this.#isRefused = true
        yield* this.#close()
        yield* this.piece('refusal', said.text)
        return
      case 'text':
      case 'thinking':
        yield* this.#close()
        yield* this.piece(said.kind, said.text)
        return
      case 'call':
        yield* this.#close()
        yield* this.#openCall(said)
        return
      case 'input':
        yield* this.#input(said.text)
        return
      case 'called':
        yield* this.#close()
        return
      case 'end':
        this.#end = said
        return
      case 'failure':
        this.#isOver = true
        yield* this.fail(said.message, said.code ?? 'upstream_failed')
        return
      case 'over':
        this.#isOver = true
        yield* this.#close()
        yield* this.finish(this.#reason(), this.#end.sequence ?? null)
    }
  }

  /** Some upstreams name no reason of its own for a refusal, or for a call that they were told to make. */
  #reason(): AnswerEnd {
    const { reason } = this.#end
    if (reason !== 'end') return reason
    return this.#isRefused ? 'refusal' : this.#calls > 0 ? 'call' : 'end'
  }

  *#openCall({ id, name }: { readonly id: string | null; readonly name: string }): Iterable<Buffer> {
    const at = this.#calls++
    const { isCustom = false, namespace = null } = this.to.tools.get(name) ?? {}
    this.#open = { id: id ?? `call_${this.speaker.id.replaceAll(/[^\w-]/g, '')}_${at}`, at, name, isCustom, namespace, input: '' }
    yield* this.openCall(this.#open)
  }

  /** What a custom tool gets stands inside the JSON that the model wrote: it is passed on when that is whole. */
  *#input(text: string): Iterable<Buffer> {
    if (this.#open === null) return
    this.#open.input += text
    if (!this.#open.isCustom) yield* this.input(this.#open, text)
  }

  *#close(): Iterable<Buffer> {
    const call = this.#open
    if (call === null) return
    this.#open = null
    if (call.isCustom) {
      call.input = customInput(call.input)
      if (call.input !== '') yield* this.input(call, call.input)
    } else if (call.input.trim() === '') {
      call.input = '{}'
      yield* this.input(call, call.input)
    }
    yield* this.closeCall(call)
  }

  abstract begin(): Iterable<Buffer>
  abstract piece(kind: 'text' | 'thinking' | 'refusal', text: string): Iterable<Buffer>
  abstract openCall(call: OpenCall): Iterable<Buffer>
  abstract input(call: OpenCall, text: string): Iterable<Buffer>
  abstract closeCall(call: OpenCall): Iterable<Buffer>
  abstract finish(reason: AnswerEnd, sequence: string | null): Iterable<Buffer>
  abstract fail(message: string, code: string): Iterable<Buffer>
}
