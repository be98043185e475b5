/** The card of what a person must have set up: what this step asks for, what earlier ones do, and what was refused. */
import type { JsonObject, Requires } from '../contract/index.ts'
import { card } from './frame.ts'
import { markup, type Html, type Piece } from './html.ts'
import { code, inline, listed } from './prose.ts'
import { objectAt, objectsAt, textAt } from './read.ts'

export function setupCard(metrics: JsonObject, carried: readonly Requires[]): Html {
  const request = objectAt(metrics, 'training_request')
  const own = objectsAt(request, 'requires')
  const names = new Set(own.map((item) => textAt(item, 'name')))
  const others = carried.filter(({ name }) => !names.has(name)).map((item) => ({ ...item }))
  const refused = [...objectsAt(request, 'refused_requires'), ...objectsAt(objectAt(metrics, 'proposal_notes'), 'refused_requires')]
  if (own.length + others.length + refused.length === 0) return card('Setup', markup`<p>Nothing has to be set up for it.</p>`)
  return card('Setup', group('Asked for by this step', own), group('From earlier steps of the chain', others), refusedGroup(refused))
}

const group = (title: string, items: readonly JsonObject[]): Piece =>
  items.length > 0 &&
  markup`<h3>${title}</h3>
    ${needsList(items)}`

export const needsList = (items: readonly JsonObject[]): Html =>
  markup`<ul class="needs">
    ${listed(items, needOf)}
  </ul>`

function needOf(item: JsonObject): Html {
  const [prompt, check] = [textAt(item, 'prompt'), textAt(item, 'check')]
  return markup`<li>
    <code>${inline(textAt(item, 'name') ?? 'unnamed')}</code> <span class="kind">${inline(textAt(item, 'kind') ?? '')}</span>${
      prompt !== null && markup`<p>${inline(prompt)}</p>`
    }${check !== null && markup`<p class="cut">Checked by ${code(check)}</p>`}
  </li>`
}

function refusedGroup(refused: readonly JsonObject[]): Piece {
  if (refused.length === 0) return null
  return markup`<h3>Refused by the step</h3>
    <ul class="needs">
      ${listed(refused, ({ item = null, reason = null }) => {
        const name = typeof item === 'string' ? item : JSON.stringify(item)
        return markup`<li>
          <code>${inline(name)}</code>
          <p>${inline(typeof reason === 'string' ? reason : 'no reason was kept')}</p>
        </li>`
      })}
    </ul>`
}
