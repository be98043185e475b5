/** The benchmark's own requests to a running service, outside the measured load. */

import { setTimeout as sleep } from 'node:timers/promises'
import { TOKEN } from './contestant.ts'

const POLL_MS = 10

type Fields = Readonly<Record<string, unknown>>

export async function get(port: number, path: string): Promise<Fields> {
  return fieldsOf(path, await fetch(addressOf(port, path), { headers: { authorization: `Bearer ${TOKEN}` } }))
}

export async function post(port: number, path: string, scenario: string, body: object): Promise<Fields> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'x-svc-scenario': scenario, 'content-type': 'application/json' }
  return fieldsOf(path, await fetch(addressOf(port, path), { method: 'POST', headers, body: JSON.stringify(body) }))
}

/** One value of the service's metrics, by name and labels. */
export async function gauge(port: number, name: string): Promise<number> {
  const answer = await fetch(addressOf(port, '/metrics'), { headers: { authorization: `Bearer ${TOKEN}` } })
  const line = (await answer.text()).split('\n').find((each) => each.startsWith(`${name} `))
  if (line === undefined) throw new Error(`the metrics of the service name no ${name}`)
  return Number(line.slice(name.length + 1))
}

/** Waits for a condition; false on a timeout. */
export async function until(holds: () => Promise<boolean> | boolean, secondsMax: number): Promise<boolean> {
  const endsAt = performance.now() + secondsMax * 1000
  while (!(await holds())) {
    if (performance.now() > endsAt) return false
    await sleep(POLL_MS)
  }
  return true
}

function addressOf(port: number, path: string): string {
  return `http://127.0.0.1:${port}${path}`
}

async function fieldsOf(path: string, answer: Response): Promise<Fields> {
  const body: unknown = await answer.json()
  if (answer.ok && typeof body === 'object' && body !== null) return { ...body }
  throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(body)}`)
}
