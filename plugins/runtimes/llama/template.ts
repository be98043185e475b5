/** A chat as the text that the model was trained to continue: its own template, rendered. */
import type { JsonObject } from '../../../src/contract/index.ts'
import type { Base } from './base.ts'
import { Unanswerable } from './request.ts'

export interface Chat {
  readonly messages: readonly JsonObject[]
  readonly tools: readonly JsonObject[]
}

export class ChatTemplate {
  readonly #base: Base
  /** Reading the template takes longer than using it. */
  readonly #template: { render(items: Readonly<Record<string, unknown>>): string } | null

  constructor(base: Base) {
    this.#base = base
    this.#template = base.template === null ? null : new base.Template(base.template)
  }

  /** Throws Unanswerable for a chat that the template refuses. */
  render({ messages, tools }: Chat, isPrompt: boolean): string {
    if (this.#template === null)
      throw new Unanswerable('this model has no chat template: take a model that was tuned for chats.', null, 'no_chat_template')
    try {
      return this.#template.render({
        messages,
        ...(tools.length > 0 && { tools }),
        add_generation_prompt: isPrompt,
        bos_token: this.#base.bos,
        eos_token: this.#base.eos,
      })
    } catch (error) {
      const why = error instanceof Error ? error.message : 'it gives no reason'
      throw new Unanswerable(`the model's chat template refuses these messages: ${why}`, 'messages')
    }
  }
}
