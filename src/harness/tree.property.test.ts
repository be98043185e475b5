/** Trees and mutations of every shape, well-meant and hostile, against what rendering and admission promise. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canonicalJson,
  checkFiles,
  isRefusal,
  NAMED_KINDS,
  RESERVED_ENTRIES,
  type Adapter,
  type Entry,
  type Json,
  type JsonObject,
  type Mutation,
} from '../contract/index.ts'
import { admit, parseMutations } from './admission.ts'
import { entryProblem } from './kinds.ts'
import { renderTree } from './render.ts'
import { before, native, plain, sentEntry, sentMutations } from './testing/adapters.ts'
import { contentOf, entriesIn, pulledFiles } from './tree.ts'

const adapters = fc.constantFrom(plain, native)

const PATHS = ['..', '.', '../../etc/passwd', '/etc/passwd', 'a/../b', 'C:\\x', '.git', 'GIT~1', 'con']
const WORDS = ['__proto__', 'constructor', 'a\0b', '\u202etxt', 'ﬀ', '\ud800', '{name}', '$&']
const hostile = fc.constantFrom(...PATHS, ...WORDS)
/** Few, so that they meet again. */
const proper = fc.constantFrom('a', 'A', 'b', 'c-1', 'style', 'tone', 'x.y')
const word = fc.oneof(
  { weight: 30, arbitrary: proper },
  { weight: 1, arbitrary: fc.constantFrom(...RESERVED_ENTRIES) },
  { weight: 2, arbitrary: hostile },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
)
const text = fc.oneof(
  { weight: 20, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).map((some) => `.${some}`) },
  { weight: 1, arbitrary: hostile },
)
const json = fc.json({ maxDepth: 4 }).map((printed): Json => JSON.parse(printed))
const data = fc.dictionary(word, json, { maxKeys: 4 })

/** Native code is left to its own test: it is parsed in a thread. */
const named = fc.record({ name: word, text })
const config: fc.Arbitrary<readonly [string, JsonObject]> = fc.oneof(
  fc.record({ target: fc.constantFrom('primary', 'models', 'models', 'web'), data }).map((each) => ['config', each] as const),
  { weight: 3, arbitrary: fc.record({ text }).map((each) => ['rules', each] as const) },
  { weight: 3, arbitrary: named.map((each) => ['skill', each] as const) },
  named.map((each) => ['agent_command', each] as const),
  fc.record({ name: word, code: text }).map((each) => ['code_extension', each] as const),
  fc
    .tuple(fc.record({ name: word, prompt: text }), fc.array(word, { maxLength: 1 }))
    .map(([each, names]) => ['native_agent', { ...each, ...before(...names) }] as const),
  fc.tuple(fc.constantFrom('rules', 'skill', 'toString', 'native_graph'), data),
)
const options = fc.tuple(config, fc.option(fc.boolean(), { nil: undefined })).map(([[name, of], disabled]) => ({
  name,
  config: of,
  ...(disabled !== undefined && { disabled }),
}))
const entry: fc.Arbitrary<Entry> = fc.tuple(word, options).map(([id, rest]) => ({ id, ...rest }))
const anyTree = fc.array(entry, { maxLength: 8 })

/** A tree as it could be served: the random entries that may stand together. */
const servedTree = fc.tuple(adapters, anyTree).map(([adapter, entries]): readonly [Adapter, readonly Entry[]] => {
  const tree = entries.reduce<readonly Entry[]>((sofar, { id, ...rest }) => {
    const admitted = admit(adapter, sofar, [{ op: 'create', id, options: rest }])
    return admitted.admitted ? admitted.entries : sofar
  }, [])
  return [adapter, tree]
})

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ op: fc.constantFrom('create' as const, 'update' as const), id: word, options }),
  fc.record({ op: fc.constant('remove' as const), id: word }),
)
const mutations = fc.array(mutation, { minLength: 1, maxLength: 4 })
const hostileMutations = fc.oneof(
  json,
  fc.array(
    fc.record(
      {
        op: fc.oneof(text, fc.constantFrom('create', 'update', 'remove')),
        id: fc.oneof(word, json),
        options: fc.oneof(options, data, json),
      },
      { requiredKeys: [] },
    ),
    { maxLength: 4 },
  ),
)

describe('any tree', () => {
  it('is rendered to files that can be kept, or refused; nothing else is thrown and nothing is changed', () => {
    fc.assert(
      fc.property(adapters, anyTree, (adapter, entries) => {
        const given = structuredClone(entries)
        const files = unlessRefused(() => renderTree(adapter, entries))
        expect(entries).toEqual(given)
        if (files === null) return
        checkFiles(files)
        expect(renderTree(adapter, structuredClone(entries))).toEqual(files)
        for (const path of Object.keys(files)) expect(path).toMatch(/^(?:agent|native)\/(?!.*(?:^|\/)\.{1,2}(?:\/|$))/)
      }),
    )
  })

  it('keeps or breaks the rules, and judging it never throws', () => {
    fc.assert(
      fc.property(adapters, fc.oneof(json, fc.record({ id: word, name: word, config: json }), options), (adapter, value) => {
        const judged = typeof value === 'object' && value !== null ? entryProblem(adapter, sentEntry(value)) : 'no entry'
        expect(judged === null || judged !== '').toBe(true)
      }),
    )
  })
})

describe('any tree that is served', () => {
  it('comes back from its content as it was put there', () => {
    fc.assert(
      fc.property(servedTree, ([adapter, entries]) => {
        const content = contentOf(adapter, entries)
        expect(entriesIn(adapter, content)).toEqual(entries)
        expect(contentOf(adapter, entriesIn(adapter, content))).toEqual(content)
      }),
    )
  })

  it('is rendered as if its disabled entries were not there', () => {
    fc.assert(
      fc.property(servedTree, ([adapter, entries]) => {
        const inForce = entries.filter(({ disabled }) => disabled !== true)
        expect(renderTree(adapter, entries)).toEqual(renderTree(adapter, inForce))
      }),
    )
  })

  it('never shows clients where the entries are kept', () => {
    fc.assert(
      fc.property(servedTree, ([adapter, entries]) => {
        const pulled = pulledFiles(contentOf(adapter, entries))
        expect(Object.keys(pulled).every((path) => !path.startsWith('.'))).toBe(true)
      }),
    )
  })
})

describe('any mutations', () => {
  it('are admitted whole or not at all, without touching what they were given', () => {
    fc.assert(
      fc.property(servedTree, mutations, ([adapter, entries], list) => {
        const [treeBefore, listBefore] = [canonicalJson(jsonOf(entries)), structuredClone(list)]
        const admitted = admit(adapter, freeze(entries), freeze(list))
        expect(canonicalJson(jsonOf(entries))).toBe(treeBefore)
        expect(list).toEqual(listBefore)
        expect(admit(adapter, entries, list)).toEqual(admitted)
        if (!admitted.admitted) return
        const content = contentOf(adapter, admitted.entries)
        checkFiles(content)
        expect(admitted.entries.map((each) => entryProblem(adapter, each)).filter((problem) => problem !== null)).toEqual([])
        expect(new Set(admitted.entries.map(({ id }) => id)).size).toBe(admitted.entries.length)
      }),
      { numRuns: 400 },
    )
  })

  it('of strangers are refused in words, whatever they are', () => {
    fc.assert(
      fc.property(servedTree, hostileMutations, ([adapter, entries], value) => {
        const admitted = admit(adapter, entries, sentMutations(value))
        const parsed = unlessRefused(() => parseMutations(value))
        if (parsed === null) expect(admitted).toMatchObject({ admitted: false })
        else expect(admit(adapter, entries, parsed)).toEqual(admitted)
        if (!admitted.admitted) expect(admitted.reason.trim()).not.toBe('')
      }),
    )
  })

  it('make the same tree in one list as one after the other', () => {
    fc.assert(
      fc.property(servedTree, mutations, ([adapter, entries], list) => {
        const whole = admit(adapter, entries, list)
        const single = list.reduce<readonly Entry[] | null>((tree, each) => {
          const admitted = tree === null ? null : admit(adapter, tree, [each])
          return admitted?.admitted === true ? admitted.entries : null
        }, entries)
        // One after the other each tree must render; in one list only the last.
        if (single !== null) expect(whole).toEqual({ admitted: true, entries: single })
      }),
    )
  })
})

describe('the kinds', () => {
  it('of both agents together are all there are', () => {
    expect(new Set([plain, native].flatMap(({ layout }) => Object.keys(layout.named)))).toEqual(new Set(NAMED_KINDS))
  })
})

function unlessRefused<T>(work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

const jsonOf = (entries: readonly Entry[]): Json => entries.map((each) => ({ ...each }))

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(freeze)
  return Object.freeze(value)
}
