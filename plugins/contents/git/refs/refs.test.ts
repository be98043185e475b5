/** Pointers moved by compare-and-swap, against real git and other processes' hands. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { temporaryFolder } from '../../../../test/support/folder.ts'
import { countSpawns, fresh, gitSays, open, publish, refsOf } from '../testing/repositories.ts'
import { displacedRef, heldRef, scenarioRef } from '../../common/refs/ref-names.ts'

const REF = scenarioRef('s')

describe('pointing', () => {
  it('costs no git process where the pointer stands already, also after a restart', async () => {
    const { path, store } = await fresh()
    const release = await publish(store, { a: '1' })
    await Promise.all([store.point('s', release), store.hold(release)])
    const repeat = async (again: typeof store): Promise<void> => {
      await Promise.all([again.point('s', release), again.hold(release)])
    }
    expect(await countSpawns(() => repeat(store))).toBe(0)
    await store.close()
    const again = await open(path)
    expect(await countSpawns(() => repeat(again))).toBe(0)
  })

  it('from an ancestor, however far, leaves nothing behind', async () => {
    const { path, store } = await fresh()
    const first = await publish(store, { a: '1' })
    await store.point('s', first)
    const second = await publish(store, { a: '2' }, first)
    const third = await publish(store, { a: '3' }, second)
    await store.point('s', third)
    expect(refsOf(path)).toEqual({ [REF]: third.release_id })
  })

  it('from anything else keeps what it displaces, once', async () => {
    const { path, store } = await fresh()
    const mine = await publish(store, { a: 'mine' })
    const other = await publish(store, { a: 'of other rows' })
    for (const release of [other, mine, other, mine]) await store.point('s', release)
    expect(refsOf(path)).toEqual({
      [REF]: mine.release_id,
      [`${displacedRef(REF, other.release_id)}`]: other.release_id,
      [`${displacedRef(REF, mine.release_id)}`]: mine.release_id,
    })
  })

  it('after another process moved the pointer keeps what it was moved to', async () => {
    const { path, store } = await fresh()
    const first = await publish(store, { a: '1' })
    await store.point('s', first)
    const theirs = await publish(store, { a: 'theirs' }, first)
    gitSays(path, 'update-ref', REF, theirs.release_id)
    const second = await publish(store, { a: '2' }, first)
    await Promise.all([store.point('s', second), store.point('t', second)])
    expect(refsOf(path)).toEqual({
      [REF]: second.release_id,
      [scenarioRef('t')]: second.release_id,
      [`${displacedRef(REF, theirs.release_id)}`]: theirs.release_id,
    })
  })

  it('after another process removed the pointer, or made it first, sets it all the same', async () => {
    const { path, store } = await fresh()
    const first = await publish(store, { a: '1' })
    await store.point('s', first)
    gitSays(path, 'update-ref', '-d', REF)
    gitSays(path, 'update-ref', scenarioRef('t'), first.release_id)
    const second = await publish(store, { a: '2' }, first)
    await Promise.all([store.point('s', second), store.point('t', second)])
    expect(refsOf(path)).toEqual({ [REF]: second.release_id, [scenarioRef('t')]: second.release_id })
  })

  it('two stores of one repository that publish under one name lose no release', async () => {
    const { path, store } = await fresh()
    const other = await open(path)
    const seen: string[] = []
    for (const round of ['1', '2', '3', '4']) {
      const mine = await publish(store, { mine: round })
      const theirs = await publish(other, { theirs: round })
      await Promise.all([store.point('s', mine), other.point('s', theirs)])
      seen.push(mine.release_id, theirs.release_id)
    }
    expect(seen.slice(-2)).toContain(refsOf(path)[REF])
    expect(new Set(Object.values(refsOf(path)))).toEqual(new Set(seen))
  })

  it('is a conflict when another process moves the pointer each time, and other pointers move meanwhile', async () => {
    const { path, store } = await fresh()
    const [first, one, two] = [await publish(store, {}), await publish(store, { a: '1' }), await publish(store, { a: '2' })]
    await store.point('s', first)
    meddle(path, REF, [one.release_id, two.release_id])
    const next = await publish(store, { a: '3' }, first)
    const contended = expect(store.point('s', next)).rejects.toMatchObject({ kind: 'conflict', code: 'pointer_contended' })
    await Promise.all([contended, store.point('t', next)])
    expect(refsOf(path)[scenarioRef('t')]).toBe(next.release_id)
  })

  it('at what is a content and no release is refused alone', async () => {
    const { path, store } = await fresh()
    const release = await publish(store, {})
    const bad = expect(store.point('s', { ...release, release_id: release.content_id })).rejects.toMatchObject({ code: 'unknown_release' })
    await Promise.all([bad, store.point('t', release)])
    expect(refsOf(path)).toEqual({ [scenarioRef('t')]: release.release_id })
  })
})

describe('holding', () => {
  it('makes a ref named by the release and moves no pointer', async () => {
    const { path, store } = await fresh()
    const head = await publish(store, { a: '1' })
    const held = await publish(store, { a: '2' }, head)
    await store.point('s', head)
    await Promise.all([store.hold(held), store.hold(held)])
    expect(refsOf(path)).toEqual({ [REF]: head.release_id, [heldRef(held.release_id)]: held.release_id })
    expect(gitSays(path, 'rev-list', '--all').split('\n')).toContain(held.release_id)
  })

  it('many at once need few git processes', async () => {
    const { path, store } = await fresh()
    const releases = await Promise.all(Array.from({ length: 50 }, (_, index) => publish(store, { a: `${index}` })))
    expect(await countSpawns(async () => void (await Promise.all(releases.map((release) => store.hold(release)))))).toBeLessThanOrEqual(2)
    expect(Object.keys(refsOf(path))).toHaveLength(50)
  })
})

/** A move of this ref finds that it was just moved to the other of two values: by a git before the real one on the PATH. */
function meddle(repository: string, ref: string, [one, two]: readonly [string, string]): void {
  const file = join(repository, ref)
  const script = `#!/bin/sh
PATH='${process.env['PATH']}'
case "$*" in *update-ref*) ;; *) exec git "$@" ;; esac
input=$(cat)
case "$input" in *' ${ref} '*)
  if [ "$(cat '${file}')" = ${one} ]; then echo ${two} >'${file}'; else echo ${one} >'${file}'; fi
esac
printf '%s\\n' "$input" | git "$@"
`
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'git'), script, { mode: 0o755 })
  vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`)
  onTestFinished(() => void vi.unstubAllEnvs())
}
