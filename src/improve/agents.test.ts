/** Which agent a repository is for, by its files and by what is installed. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { findAgents, layoutOf } from './agents.ts'

async function found(files: readonly string[], installed: readonly string[] = []): Promise<readonly string[]> {
  const [folder, programs] = [temporaryFolder(), temporaryFolder()]
  for (const path of files)
    if (path.endsWith('/')) mkdirSync(join(folder, path))
    else writeFileSync(join(folder, path), 'x')
  for (const name of installed) writeFileSync(join(programs, name), '', { mode: 0o755 })
  return (await findAgents(folder, `/nowhere:${programs}`)).agents
}

it.each<[files: readonly string[], installed: readonly string[], agents: readonly string[]]>([
  [['CLAUDE.md'], [], ['claude']],
  [['.claude/'], ['codex'], ['claude']],
  [['.codex/', 'AGENTS.md'], [], ['codex']],
  [['opencode.json'], [], ['opencode']],
  [['.pi/'], [], ['pi']],
  [['AGENTS.md'], ['pi'], ['pi']],
  [['AGENTS.md'], ['pi', 'codex'], ['codex', 'pi']],
  [['AGENTS.md'], [], ['codex', 'opencode', 'pi']],
  [['CLAUDE.md', '.codex/'], [], ['claude', 'codex']],
  [['CLAUDE.md', '.codex/'], ['codex'], ['codex']],
  [[], [], []],
  [[], ['opencode'], ['opencode']],
])('%j with %j installed: %j', async (files, installed, agents) => {
  expect(await found(files, installed)).toEqual(agents)
})

it('a file that cannot be run is no installed program', async () => {
  const programs = temporaryFolder()
  writeFileSync(join(programs, 'pi'), '', { mode: 0o644 })
  expect((await findAgents(temporaryFolder(), programs)).agents).toEqual([])
})

it('names of parts of the language are no agents', () => {
  expect([layoutOf('constructor'), layoutOf('__proto__'), layoutOf('dsh')]).toEqual([null, null, null])
})
