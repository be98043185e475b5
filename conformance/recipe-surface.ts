/** Recipe conformance for releases: their files, loading, and hooks that do not change their input. */
import assert from 'node:assert/strict'
import { isObject, isRefusal } from '../src/contract/index.ts'
import type { Dialect, InferenceHooks, JsonObject, Surface } from '../src/contract/index.ts'
import { over, plansOf, seedRelease, type RecipeSuite } from './recipe-support.ts'
import { assertKeepable, assertPlain, assertUntouched } from './support.ts'

const DIALECTS: readonly Dialect[] = ['chat', 'responses', 'messages', 'count_tokens']

/** The routes accept all of these; the provider decides whether they make sense. */
const BODIES: readonly JsonObject[] = [
  { model: 'm', messages: [{ role: 'user', content: 'hello' }], input: 'hello', system: 'be brief', instructions: 'be brief' },
  {
    model: 'm',
    messages: [{ role: 'system', content: [{ type: 'text', text: 'x' }] }],
    system: [{ type: 'text', text: 'x' }],
    stream: true,
  },
  {},
  { model: 7, messages: 'none', input: {}, system: null, instructions: [null, 7], tools: false },
]

const ANSWERS: readonly JsonObject[] = [
  { object: 'chat.completion', choices: [{ message: { content: 'hello' } }] },
  {},
  { choices: 'none' },
]

export function describeSurface(suite: RecipeSuite): void {
  const test = over(suite)
  const release = seedRelease(suite)
  test('the files of its first release can be read and kept', async ({ binding: { surface } }) => {
    if (surface.files === undefined) return
    assertKeepable(await surface.files.read(release))
  })
  test('what the service ships is put into a content once: the next time nothing is newer', async ({ binding: { surface } }) => {
    const content = suite.recipe.seed ?? {}
    await assertUntouched(content, () => {
      const shipped = surface.files?.shipped?.(content) ?? null
      if (shipped === null) return
      assertKeepable(shipped.content)
      assert.notEqual(shipped.entries.length, 0, 'something is newer, and no entry')
      assert.equal(surface.files?.shipped?.(shipped.content), null)
    })
  })
  test('what it says of a component is about one it has', async ({ binding: { surface } }) => {
    const { files, componentHooks } = surface
    const named = [...(files?.component === undefined ? [] : [files.component]), ...Object.keys(componentHooks ?? {})]
    for (const name of named) assert.ok(Object.hasOwn(plansOf(suite), name), `${JSON.stringify(name)} is none of its trainers`)
  })
  test('its first release can be loaded, and loaded again', async ({ binding: { surface } }) => {
    await surface.loader?.load(release)
    await surface.loader?.load(release)
  })
  test('a body is prepared or refused, and is afterwards what it was', async ({ binding: { surface } }) => {
    for (const hooks of hooksOf(surface))
      await everyWay(BODIES, (dialect, body) => {
        const prepared = hooks.prepare?.(release, dialect, body) ?? body
        assert.ok(isObject(prepared), 'the prepared body is not an object')
        assertPlain(prepared, 'what was prepared')
      })
  })
  test('the same body is prepared the same each time: attempts may be repeated', async ({ binding: { surface } }) => {
    for (const hooks of hooksOf(surface))
      await everyWay(BODIES, (dialect, body) => {
        assert.deepEqual(hooks.prepare?.(release, dialect, body), hooks.prepare?.(release, dialect, body))
      })
  })
  test('an answer is let through or refused, and is afterwards what it was', async ({ binding: { surface } }) => {
    for (const hooks of hooksOf(surface)) await everyWay(ANSWERS, (dialect, answer) => hooks.verify?.(release, dialect, answer))
  })
  test('what one attempt holds can be held by two at once and let go of', async ({ binding: { surface } }) => {
    for (const hooks of hooksOf(surface)) {
      const { signal } = new AbortController()
      const held = await Promise.all([hooks.begin?.(release, signal), hooks.begin?.(release, signal)])
      for (const letGo of held) letGo?.()
    }
  })
}

function hooksOf({ hooks, componentHooks = {} }: Surface): readonly InferenceHooks[] {
  return [...(hooks === undefined ? [] : [hooks]), ...Object.values(componentHooks)]
}

/** Calls `act` in every format. Only refusals may be thrown: anything else would be a 500. */
async function everyWay(objects: readonly JsonObject[], act: (dialect: Dialect, object: JsonObject) => void): Promise<void> {
  for (const dialect of DIALECTS)
    for (const object of objects)
      await assertUntouched(object, (given) => {
        try {
          act(dialect, given)
        } catch (error) {
          if (!isRefusal(error)) throw error
        }
      })
}
