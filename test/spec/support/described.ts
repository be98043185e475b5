/** Checks answers against the published OpenAPI document. */
import type { Json, JsonObject } from '../../../src/contract/index.ts'
import type { HttpRoute } from '../../../src/http/context.ts'
import { Router } from '../../../src/http/router.ts'
import { routes } from '../../../src/http/routes.ts'
import type { Answer, Ask, World } from '../../support/world.ts'
import { problemsOf } from './json-schema.ts'
import { errorOf, textAt } from './helpers.ts'
import { memberOf } from './trainee.ts'

export type Asking = (method: HttpRoute['method'], path: string, ask?: Ask) => Promise<Answer>
export type Place = Pick<HttpRoute, 'method' | 'path'>

const table = new Router(routes)

export class Described {
  readonly document: JsonObject
  readonly #held = new Set<string>()

  constructor(document: JsonObject) {
    this.document = document
  }

  operation({ method, path }: Place): JsonObject {
    return memberOf(memberOf(this.document['paths'], path.replaceAll(/\/:(\w+)/g, '/{$1}')), method.toLowerCase())
  }

  body(route: Place): Json | undefined {
    return schemaIn(memberOf(this.operation(route), 'requestBody'), 'application/json')
  }

  /** Every operation that answers with JSON of ours. */
  get shaped(): readonly string[] {
    const operations: readonly unknown[] = Object.values(Object(this.document['paths'])).flatMap((path) => Object.values(Object(path)))
    return operations
      .filter((operation) => schemaIn(memberOf(memberOf(operation, 'responses'), '200'), 'application/json') !== undefined)
      .map((operation) => String(Object(operation).operationId))
  }

  /** The operations checked so far. */
  get held(): readonly string[] {
    return [...this.#held]
  }

  /** Sends requests to that service, and throws when an answer does not match the document. */
  asking(here: World): Asking {
    return async (method, path, ask = {}) => {
      const answer = await here.ask(method, path, ask)
      const found = table.find(method, path.split('?', 1)[0] ?? '')
      if (found.kind !== 'found') throw new Error(`${method} ${path} is not a route`)
      const problems = this.#problemsOf(found.match.route, answer)
      if (problems.length > 0) throw new Error(`${method} ${path} ${answer.status}: ${problems.join('\n')}\n${answer.text.slice(0, 2000)}`)
      return answer
    }
  }

  #problemsOf(route: HttpRoute, answer: Answer): readonly string[] {
    const operation = this.operation(route)
    const response = memberOf(operation['responses'], String(answer.status))
    const media = String(answer.headers['content-type']).replace(/;.*/, '')
    if (!Object.hasOwn(Object(response['content']), media)) return [`${media} with this status is not described`]
    const schema = schemaIn(response, media)
    if (schema === undefined) return []
    if (answer.status < 300) this.#held.add(textAt(operation, 'operationId'))
    // Clients must accept new fields; here each must be documented.
    return [...problemsOf({ root: this.document, isClosed: true }, schema, answer.json), ...codeProblems(response, answer)]
  }
}

const schemaIn = (described: JsonObject, media: string): Json | undefined => memberOf(described['content'], media)['schema']

/** A refusal's code is one of those listed with its status. */
function codeProblems({ description }: JsonObject, answer: Answer): readonly string[] {
  const { code } = errorOf(answer)
  if (typeof code !== 'string' || typeof description !== 'string') return []
  return description.includes(`\`${code}\``) ? [] : [`the code ${code} is not described`]
}
