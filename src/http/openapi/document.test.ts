/** The published document: whole, sound, and without a dangling reference. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { flawsOf, resolve } from '../../../test/spec/support/json-schema.ts'
import { isObject, type Json, type JsonObject } from '../../contract/index.ts'
import { routes } from '../routes.ts'
import { accessRefusals, documentOf, isDescribed } from './document.ts'
import { refusals, UNREADABLE } from './refusals.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const described = routes.filter(isDescribed)
const document: JsonObject = JSON.parse(JSON.stringify(documentOf(described)))

const objectAt = (object: Json | undefined, name: string): JsonObject => {
  const member = isObject(object) ? object[name] : undefined
  return isObject(member) ? member : {}
}
const objects = (value: Json | undefined): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const named = (parameter: JsonObject): JsonObject => {
  const found = typeof parameter['$ref'] === 'string' ? resolve(document, parameter['$ref']) : parameter
  return isObject(found) ? found : {}
}

const operations = Object.entries(objectAt(document, 'paths')).flatMap(([path, item]) =>
  Object.keys(isObject(item) ? item : {}).map((method) => ({ path, method, operation: objectAt(item, method) })),
)

function allUnder(key: string, value: Json): readonly Json[] {
  if (Array.isArray(value)) return value.flatMap((item: Json) => allUnder(key, item))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) => [...(name === key ? [member] : []), ...allUnder(key, member)])
}

describe('the document', () => {
  it('describes every route of the table but the console, and no other', () => {
    const table = described.map(({ method, path }) => `${method} ${path.replaceAll(/\/:(\w+)/g, '/{$1}')}`)
    expect(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`).toSorted()).toEqual(table.toSorted())
    expect(routes.filter((route) => !isDescribed(route)).every(({ path }) => path.startsWith('/console'))).toBe(true)
  })

  it('has a schema for the body and the answer of every route of ours', () => {
    const lacking = described.flatMap(({ method, path, spec }) => {
      const answered = Object.values(spec.answers).map(({ content }) => content['application/json'])
      const isRefused = Object.keys(spec.answers).length === 0
      const isWithoutBody = method === 'POST' && spec.body === undefined && !isRefused
      const isWithoutAnswer = !/\/v1(?:beta)?\//.test(path) && answered.includes(null)
      return isWithoutBody || isWithoutAnswer ? [`${method} ${path}`] : []
    })
    expect(lacking).toEqual([])
  })

  it('is OpenAPI 3.1, of the version that the package has', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    expect(document).toMatchObject({
      openapi: expect.stringMatching(/^3\.1\.\d+$/),
      info: { title: 'svc', version },
      servers: [{ url: '/' }],
    })
  })

  it('holds no dangling reference', () => {
    const refs = allUnder('$ref', document)
    expect(refs.length).toBeGreaterThan(100)
    for (const ref of refs) expect(isObject(resolve(document, JSON.stringify(ref).slice(1, -1)))).toBe(true)
  })

  it('gives every operation a name of its own, a summary, a tag that is explained, and answers', () => {
    const tags = objects(document['tags']).map(({ name }) => name)
    expect(new Set(operations.map(({ operation }) => operation['operationId'])).size).toBe(operations.length)
    for (const { operation } of operations) {
      expect(operation).toMatchObject({
        operationId: expect.stringMatching(/^[a-z][A-Za-z]+$/),
        summary: expect.stringMatching(/^\S.+[^.]$/),
      })
      expect(tags).toEqual(expect.arrayContaining(Object.values(operation['tags'] ?? {})))
      const answers = Object.entries(objectAt(operation, 'responses'))
      expect(answers.length).toBeGreaterThan(3)
      for (const [status, answer] of answers)
        expect({ status, answer }).toMatchObject({
          status: expect.stringMatching(/^[2345]\d\d$/),
          answer: { description: expect.stringMatching(/./) },
        })
    }
  })

  it('declares the parameters of every path, each parameter once', () => {
    for (const { path, operation } of operations) {
      const parameters = objects(operation['parameters']).map(named)
      const ids = parameters.map(({ name, in: place }) => JSON.stringify([place, name]))
      expect(new Set(ids).size).toBe(ids.length)
      const inPath = parameters.filter(({ in: place, required }) => place === 'path' && required === true).map(({ name }) => name)
      expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
    }
  })

  it('names for every operation the credentials it accepts, by schemes that are explained', () => {
    const schemes = Object.keys(objectAt(objectAt(document, 'components'), 'securitySchemes'))
    for (const { path, operation } of operations) {
      const ways = objects(operation['security']).flatMap((way) => Object.keys(way))
      expect(schemes).toEqual(expect.arrayContaining(ways))
      const isOpen = path === '/healthz' || (path.startsWith('/svc/sign-in') && operation['operationId'] !== 'signOut')
      expect({ path, ways: ways.length === 0 }).toEqual({ path, ways: isOpen })
    }
  })

  it('holds only schemas that a reader can make sense of', () => {
    const schemas = Object.values(objectAt(objectAt(document, 'components'), 'schemas'))
    expect(schemas.length).toBeGreaterThan(30)
    expect([...schemas, ...allUnder('schema', document)].flatMap((schema) => flawsOf(schema))).toEqual([])
  })
})

const codesIn = (status: string, row: string): readonly string[] =>
  [...row.matchAll(/`([a-z]+(?:_[a-z]+)*)`/g)].map(([, code = '']) => `${status} ${code}`)

describe('the codes of refusals', () => {
  const section = readFileSync(join(root, 'docs/interface.md'), 'utf8').split('\n## Errors\n')[1] ?? ''
  const listed = new Set([...section.matchAll(/^\| (\d{3}) \| (.+) \|$/gm)].flatMap(([, status = '', row = '']) => codesIn(status, row)))
  const all = refusals(UNREADABLE, ...described.flatMap((route) => [accessRefusals(route), route.spec.refusals]))
  const declared = new Set(Object.entries(all).flatMap(([status, codes]) => codes.map((code) => `${status} ${code}`)))

  /** Of no route: before one is found, between threads, on the console, and outside HTTP. */
  const ELSEWHERE = new Set([
    '404 unknown_route',
    '405 method_not_allowed',
    '501 console_not_built',
    '501 not_built',
    '503 relay_failed',
    '503 stopping',
  ])

  it('are those that the interface page lists with their status', () => {
    expect([...declared].filter((code) => !listed.has(code) && !code.endsWith(' upstream_refused'))).toEqual([])
    expect([...listed].filter((code) => !declared.has(code) && !ELSEWHERE.has(code))).toEqual([])
  })
})
