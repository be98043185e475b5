/** Test support for adapters: a model, entries, an agent's files, and golden files. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { adapterConformance } from '../../../conformance/index.ts'
import {
  MODEL_APIS,
  NO_TOKEN,
  type Adapter,
  type Entry,
  type Files,
  type JsonObject,
  type ModelAddress,
  type ModelApi,
} from '../../../src/contract/index.ts'
import { contentOf, pulledFiles, renderTree } from '../../../src/harness/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'

export const entry = (id: string, name: string, config: JsonObject): Entry => ({ id, name, config })

/** Two rules, a skill without front matter and one with. */
export const TEXTS: readonly Entry[] = [
  entry('first', 'rules', { text: '# Rules\n\nAnswer in one line.' }),
  entry('second', 'rules', { text: 'Say when you do not know.' }),
  entry('bare', 'skill', { name: 'count-words', text: '# Count words\n\nRun `wc -w`.' }),
  entry('headed', 'skill', { name: 'tables', text: '---\nname: tables\ndescription: How tables are written\n---\nUse pipes.' }),
]

export const modelOf = (api: ModelApi): ModelAddress => ({ url: 'http://127.0.0.1:8900', model: 'some:model', api, apiKey: 'the-key' })

/** The conformance suite; then the rendered tree is `golden.txt` beside the test, and what a model changes `golden-<api>.txt`. */
export function itConforms(adapter: Adapter, entries: readonly Entry[]): void {
  adapterConformance({ describe, it, adapter, entries })
  const apis = MODEL_APIS.filter((api) => adapter.bindings[api] !== undefined)

  it('a tree with an entry of every kind becomes these files', async () => {
    await expect(asText(pulledFiles(contentOf(adapter, entries)))).toMatchFileSnapshot('./golden.txt')
  })

  it.each(apis)('a model that speaks %s changes these files, and no other', async (api) => {
    const unbound = renderTree(adapter, entries)
    const bound = Object.entries(renderTree(adapter, entries, modelOf(api)))
    const changed = Object.fromEntries(bound.filter(([path, text]) => unbound[path] !== text))
    await expect(asText(changed)).toMatchFileSnapshot(`./golden-${api}.txt`)
  })

  it.each(apis)('a model that speaks %s and has no key gets the word for none', (api) => {
    expect(asText(renderTree(adapter, [], { ...modelOf(api), apiKey: null }))).toContain(NO_TOKEN)
  })
}

/** One text of all files, in path order. */
const asText = (files: Files): string =>
  Object.entries(files)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, text]) => `=== ${path}\n${text}`)
    .join('')

/** The entry `mine` is refused by its field, with and without a model. */
export function expectSettingRefused(adapter: Adapter, field: string, config: JsonObject): void {
  const refusal = { code: 'setting_refused', message: expect.stringContaining(`mine: config.data.${field} is refused: `) }
  const mine = [entry('mine', 'config', config)]
  expect(() => renderTree(adapter, mine)).toThrow(expect.objectContaining(refusal))
  expect(() => renderTree(adapter, mine, modelOf('openai'))).toThrow(expect.objectContaining(refusal))
}

/** Each row is a field, and data that sets it to what it may not be. */
export const itRefusesSettings = (adapter: Adapter, rows: readonly (readonly [field: string, data: JsonObject])[]): void =>
  it.each(rows)('an entry that sets %s is refused by name', (field, data) => expectSettingRefused(adapter, field, { data }))

/** What the adapter reads of files that an agent left. */
export async function trajectoryOf(adapter: Adapter, files: Files): Promise<readonly JsonObject[]> {
  const root = temporaryFolder()
  await leave(root, files)
  return adapter.readTrajectory(root)
}

/** Writes the files that an agent left. */
export async function leave(root: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}
