import { expect, it } from 'vitest'
import { heldStore } from '../fixtures/held-store.ts'
import { world } from '../support/world.ts'
it('x', async () => {
  const here = await world({ settings: { 'storage.record_backend': './test/fixtures/held-store.ts', recipe: './test/fixtures/recipes.ts#hooked' } })
  heldStore().hold()
  const p = here.exchange('a')
  await heldStore().held()
  heldStore().release()
  console.log(await p, await heldStore().store.scenarios())
  expect(1).toBe(1)
  await here.close()
})
