/** The documents' commands do what the documents say. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { JsonObject } from '../../src/contract/index.ts'
import type { Settings } from '../support/settings.ts'
import { ownWorld } from '../support/world.ts'
import { followDocument, type Session } from './blocks.ts'

const TOKEN = 'a-token-for-the-documents'

/** A service whose state lies where it lies by default: under `.svc` of the folder the commands run in. */
async function follow(document: string, more: Settings = {}): Promise<Session> {
  const outside = await ownWorld({ backend: 'sqlite', settings: { 'inference.runtime': 'practice', 'svc.token': TOKEN, ...more } })
  const state = join(outside.directory, '.svc')
  await outside.restart({
    'storage.agent_record_dir': join(state, 'agent-record'),
    'storage.artifact_repository': join(state, 'artifacts.git'),
  })
  const { port } = new URL(outside.address)
  return followDocument(document, outside.directory, { SVC_URL: outside.address, SVC_TOKEN: TOKEN, PORT: port })
}

function saying({ blocks }: Session, pattern: RegExp): string {
  const found = blocks.filter((block) => pattern.test(block))
  expect(found, `blocks that say ${String(pattern)}`).toHaveLength(1)
  return found[0] ?? ''
}

const jsonOf = (text: string): JsonObject => JSON.parse(text)

describe.each(['README.md', 'docs/README.md'])('%s', (page) => {
  it('says what a harness is before it uses the word', async () => {
    const text = await readFile(join(import.meta.dirname, '..', '..', page), 'utf8')
    const [first = ''] = /.{0,40}harness.{0,2}/i.exec(text) ?? []
    expect(first).toMatch(/^.*the model is called (its|the) \*\*harness\*\*$/)
  })
})

describe('README.md', () => {
  it('is a tour that works: an answer, a receipt, a report, a stream, an import, history and status', async () => {
    const session = await follow('README.md')
    const [, answer = '', receipt = '', report = '', stream = '', messages = '', imported = '', history = '', status = ''] = session.blocks
    expect(jsonOf(answer)).toMatchObject({ object: 'chat.completion', model: 'practice' })
    expect(receipt.trim()).toMatch(/^[0-9a-f]{32}$/)
    expect(jsonOf(report)).toMatchObject({ scenario: 'tour', request_type: 'report' })
    expect(stream.trim().endsWith('data: [DONE]')).toBe(true)
    expect(stream).toMatch(/"svc\.agent_record_id":"[0-9a-f]{32}"/)
    expect(jsonOf(messages)).toMatchObject({ type: 'message', role: 'assistant' })
    expect(jsonOf(imported)).toEqual({ agent_record_id: 'old-1', scenario: 'tour', request_type: 'inference' })
    const [list = '', record = ''] = history.trim().split('\n')
    expect(jsonOf(list)).toMatchObject({ scenario: 'tour', next_after_sequence: null })
    expect(jsonOf(record)).toMatchObject({ agent_record_id: receipt.trim(), payload: { response: { object: 'chat.completion' } } })
    expect(jsonOf(status)).toMatchObject({ serving: { runtime: 'practice' }, storage: { records: 5 } })
  })
})

describe('docs/import.md', () => {
  it('brings records in, one by one, as a batch and from a file, and stores none twice', async () => {
    const session = await follow('docs/import.md')
    saying(session, /4 records of old\.jsonl acknowledged for scenario old-traffic\n/)
    saying(session, /4 records of old\.jsonl acknowledged for scenario old-traffic \(4 of them by earlier runs\)/)
    saying(session, /"code":"record_conflict"/)
    const listed = saying(session, /"next_after_sequence"/)
    const { records } = jsonOf(listed.trim())
    expect(records).toHaveLength(7)
  })
})

describe('docs/clients.md', () => {
  it('asks in each format with the headers every client must send', async () => {
    const session = await follow('docs/clients.md')
    saying(session, /"object":"list"/)
    saying(session, /"object":"response"/)
    saying(session, /^\{"input_tokens":/m)
  })
})

describe('docs/harness.md', () => {
  it('serves the harness of its configuration, as a manifest and as files', async () => {
    const text = await readFile(join(import.meta.dirname, '..', '..', 'docs', 'harness.md'), 'utf8')
    const { recipe, evolution } = parse(/^```yaml\n([\s\S]*?)^```$/m.exec(text)?.[1] ?? '')
    const seed = JSON.stringify(evolution.seed)
    const session = await follow('docs/harness.md', { recipe, 'evolution.adapter': evolution.adapter, 'evolution.seed': seed })
    saying(session, /"pi-agent\/skills\/release-notes\/SKILL\.md"/)
    saying(session, /^Answer in one sentence\.$/m)
    saying(session, /install\?adapter=pi' \| env SVC_KEY=ed25519:[\w-]{43} sh$/m)
    saying(session, /"name":"terminus"/)
  })
})

describe('docs/operations.md', () => {
  it('checks, watches, backs up and verifies a running service', async () => {
    const session = await follow('docs/operations.md')
    saying(session, /^\{"ok":true\}/m)
    saying(session, /^svc_records /m)
    saying(session, /configuration +svc\.yaml/)
    saying(session, /checked, none damaged/)
  })
})
