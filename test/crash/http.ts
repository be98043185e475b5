/** A client that keeps whatever reached it, also of an answer that broke off: a receipt that was seen counts. */
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { isObject, type Json, type JsonObject, type RequestType } from '../../src/contract/index.ts'

export interface Heard {
  /** 0 when nothing came back. */
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** False when the connection broke before the end. */
  readonly isWhole: boolean
}

const NOTHING: Heard = { status: 0, headers: {}, text: '', isWhole: false }
const agent = new Agent({ keepAlive: true, maxSockets: 64 })

export interface Ask {
  readonly method: string
  readonly path: string
  readonly scenario?: string
  readonly body?: JsonObject
  /** Closes the connection after this many pieces of the answer. */
  readonly leaveAfter?: number
}

export function ask(address: string, { method, path, scenario, body, leaveAfter = Infinity }: Ask): Promise<Heard> {
  const { hostname, port } = new URL(address)
  const headers = {
    ...(scenario !== undefined && { 'x-svc-scenario': scenario }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const { promise, resolve } = Promise.withResolvers<Heard>()
  const request = httpRequest({ hostname, port, method, path, headers, agent }, (response) => {
    const parts: Buffer[] = []
    const heard = (isWhole: boolean) =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(parts).toString(), isWhole })
    response.on('data', (part: Buffer) => {
      parts.push(part)
      if (parts.length < leaveAfter) return
      heard(false)
      response.destroy()
    })
    response.on('end', () => heard(true))
    response.on('close', () => heard(false))
    response.on('error', () => heard(false))
  })
  request.on('error', () => resolve(NOTHING))
  request.end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}

/** A cut answer fails too. */
export async function get(address: string, path: string, scenario?: string): Promise<JsonObject> {
  const heard = await ask(address, { method: 'GET', path, ...(scenario !== undefined && { scenario }) })
  if (heard.status !== 200 || !heard.isWhole) throw new Error(`GET ${path} answered ${heard.status}`)
  return objectIn(heard)
}

/** All rows of a list that comes in pages: each page names the number that the next begins after. */
export async function pages(address: string, path: string, list: string, next: string, first = 0): Promise<readonly JsonObject[]> {
  const rows: JsonObject[] = []
  for (let after: Json | undefined = first; typeof after === 'number';) {
    const page = await get(address, `${path}${after}`)
    rows.push(...listIn(page, list))
    after = page[next]
  }
  return rows
}

export function objectIn({ text, isWhole }: Heard): JsonObject {
  const value: Json = isWhole && text.startsWith('{') ? JSON.parse(text) : {}
  return isObject(value) ? value : {}
}

export function listIn(object: JsonObject, key: string): readonly JsonObject[] {
  const list = object[key]
  return Array.isArray(list) ? list.filter(isObject) : []
}

export function memberIn(object: JsonObject, key: string): JsonObject {
  const member: JsonObject = Object(object[key])
  return member
}

export function textIn(object: JsonObject | undefined, key: string): string {
  const text = object?.[key]
  return typeof text === 'string' ? text : ''
}

export function requestTypeIn(record: JsonObject): RequestType {
  const type = textIn(record, 'request_type')
  return type === 'train' || type === 'report' ? type : 'inference'
}

export function textsIn(object: JsonObject, key: string): readonly string[] {
  const list = object[key]
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : []
}
