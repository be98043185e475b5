/** A release in place of another: whole, or the old one stays as it was. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { homeOf, keepRelease, type Manifest } from '@svc-ai/client/shared'
import { entry, folder } from './testing/native.ts'
import { mount, mountedIn } from './mount.ts'
import { filesOf } from './trial-tree.ts'

const TRUST = { key: `ed25519:${'k'.repeat(43)}`, step: 1, release_id: 'r1' }

beforeEach(() => {
  vi.stubEnv('HOME', folder())
  onTestFinished(() => void vi.unstubAllEnvs())
})

const release = (id: string, text: string, more: Readonly<Record<string, string>> = {}) => ({
  trust: TRUST,
  manifest: manifestOf(id, text, more),
})

const manifestOf = (id: string, text: string, more: Readonly<Record<string, string>>): Manifest => ({
  release_id: id,
  content_id: `c-${id}`,
  parent_release_id: null,
  files: { ...filesOf([entry('rules', { text })]), ...more },
  evaluation: {},
  requires: [],
  signed: { statement: '', signature: '', rotations: [] },
})

describe('a release', () => {
  it('is mounted with the files of the one before it gone, and other files left alone', async () => {
    const root = folder()
    await mount(root, release('r1', 'One.', { 'native/skills/a/SKILL.md': 'A.' }))
    mkdirSync(join(root, 'native/sessions'))
    writeFileSync(join(root, 'native/sessions/s.jsonl'), '{}')
    const { releaseId, tree } = await mount(root, release('r2', 'Two.'))
    expect([releaseId, tree.rules, tree.skills]).toEqual(['r2', 'Two.', []])
    expect(readFileSync(join(root, 'native/sessions/s.jsonl'), 'utf8')).toBe('{}')
  })

  it.each([
    ['whose files are in each other’s way', { 'native/AGENTS.md/x': '' }],
    ['with a path that leads out', { '../x': '' }],
    ['that cannot be loaded once it is written', { 'native/tools/a.json': '{}' }],
  ])('%s leaves the one before it whole', async (_, more) => {
    const root = folder()
    await mount(root, release('r1', 'One.', { 'native/skills/a/SKILL.md': 'A.' }))
    await expect(mount(root, release('r2', 'Two.', more))).rejects.toThrow()
    const there = await mountedIn(root)
    expect([there?.releaseId, there?.tree.rules, there?.tree.skills.map(({ name }) => name)]).toEqual(['r1', 'One.', ['a']])
  })

  it('that was begun and never written whole is none', async () => {
    const root = folder()
    keepRelease(homeOf(process.env), root, '{"release_id":"","content_id":"","files":["native/AGENTS.md"]}')
    expect(await mountedIn(root)).toBeNull()
  })

  it('that came with a repository is none', async () => {
    const [root, cloned] = [folder(), folder()]
    await mount(root, release('r1', 'One.'))
    cpSync(root, cloned, { recursive: true })
    expect([(await mountedIn(root))?.releaseId, await mountedIn(cloned)]).toEqual(['r1', null])
  })
})
