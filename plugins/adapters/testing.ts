/** What the tests of the adapters share: a model, how an entry is written, what an agent left in a folder, and files that stay as they were written down. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import {
  NO_TOKEN,
  type Adapter,
  type Entry,
  type Files,
  type JsonObject,
  type ModelAddress,
  type ModelApi,
} from '../../src/contract/index.ts'
import { contentOf, pulledFiles, renderTree } from '../../src/harness/index.ts'

const APIS: readonly ModelApi[] = ['openai', 'responses', 'anthropic']

export const entry = (id: string, name: string, config: JsonObject): Entry => ({ id, name, config })

/** What most agents are given: two rules, a skill without a head and one with. */
export const TEXTS: readonly Entry[] = [
  entry('first', 'rules', { text: '# Rules\n\nAnswer in one line.' }),
  entry('second', 'rules', { text: 'Say when you do not know.' }),
  entry('bare', 'skill', { name: 'count-words', text: '# Count words\n\nRun `wc -w`.' }),
  entry('headed', 'skill', { name: 'tables', text: '---\nname: tables\ndescription: How tables are written\n---\nUse pipes.' }),
]

export const modelOf = (api: ModelApi): ModelAddress => ({ url: 'http://127.0.0.1:8900', model: 'some:model', api, apiKey: 'the-key' })

/** Everything that a tree becomes lies in `golden.txt` beside the test, and what a model changes in it in `golden-<api>.txt`. */
export function itRendersAsBefore(adapter: Adapter, entries: readonly Entry[]): void {
  const apis = APIS.filter((api) => adapter.bindings[api] !== undefined)

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

/** One text with every file under its path, in the order of the paths. */
const asText = (files: Files): string =>
  Object.entries(files)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, text]) => `=== ${path}\n${text}`)
    .join('')

/** The entry `mine` is refused by the name of the field, with a model bound and without. */
export function expectSettingRefused(adapter: Adapter, field: string, config: JsonObject): void {
  const refusal = { code: 'setting_refused', message: expect.stringContaining(`mine: config.data.${field} is refused: `) }
  const mine = [entry('mine', 'config', config)]
  expect(() => renderTree(adapter, mine)).toThrow(expect.objectContaining(refusal))
  expect(() => renderTree(adapter, mine, modelOf('openai'))).toThrow(expect.objectContaining(refusal))
}

/** The files of an agent that worked in this folder. */
export async function leave(root: string, files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}
