/** Stands in for a store that threads can join: appends go through the main thread. */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { isRefusal, Refusal, type NewRecord, type RefusalKind } from '../contract/index.ts'

type Ask = { readonly id: number; readonly scenario: string; readonly record: NewRecord }
type Answer =
  | { readonly id: number; readonly step: number }
  | { readonly id: number; readonly kind: RefusalKind; readonly code: string; readonly message: string }

export function shareStandIn(append: (scenario: string, record: NewRecord) => Promise<number>): MessagePort {
  const { port1, port2 } = new MessageChannel()
  port1.on('message', ({ id, scenario, record }: Ask) => {
    append(scenario, record).then(
      (step) => port1.postMessage({ id, step }, []),
      (error: unknown) => {
        const { kind, code, message } = isRefusal(error) ? error : new Refusal('unavailable', 'internal_error', String(error))
        port1.postMessage({ id, kind, code, message }, [])
      },
    )
  })
  return port2
}

export function joinStore(port: MessagePort) {
  const waiting = new Map<number, PromiseWithResolvers<number>>()
  let last = 0
  port.on('message', (answer: Answer) => {
    const asked = waiting.get(answer.id)
    waiting.delete(answer.id)
    if ('step' in answer) asked?.resolve(answer.step)
    else asked?.reject(new Refusal(answer.kind, answer.code, answer.message))
  })
  return {
    append(scenario: string, record: NewRecord): Promise<number> {
      last += 1
      const asked = Promise.withResolvers<number>()
      waiting.set(last, asked)
      port.postMessage({ id: last, scenario, record }, [])
      return asked.promise
    },
    closeStore: async (): Promise<void> => port.close(),
  }
}
