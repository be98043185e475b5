/** Whether the model may, must or must not call a tool, in the spelling of any provider. */
import type { Json } from '../../../../src/contract/index.ts'
import { isObject, objectOf, textOf } from '../json.ts'
import type { Choice } from '../prompt.ts'

export function readChoice(choice: Json | undefined): Choice {
  if (typeof choice === 'string') return ofWord(choice)
  if (!isObject(choice)) return { kind: 'auto' }
  const named = textOf(choice['name']) || textOf(objectOf(choice['function'])['name']) || textOf(objectOf(choice['custom'])['name'])
  if (named !== '') return { kind: 'named', name: named }
  return ofWord(textOf(choice['mode']) || textOf(objectOf(choice['allowed_tools'])['mode']) || textOf(choice['type']))
}

function ofWord(word: string): Choice {
  if (word === 'none') return { kind: 'none' }
  if (word === 'required' || word === 'any') return { kind: 'required' }
  return { kind: 'auto' }
}
