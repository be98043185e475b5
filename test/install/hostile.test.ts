/** Texts and names that attack a shell, a parser or a terminal: they arrive unchanged, and nothing in them runs. */
import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Entry } from '../../src/contract/index.ts'
import { expectWhole, jsonAt, sharedInstallWorld, RELEASE_FILE, TOKEN } from './install-world.ts'
import { namesBelow, SHELLS } from './machine.ts'

const TEXTS: readonly string[] = [
  'SVC_PROGRAM\nexit 0\nSVC_PROGRAM\n}\n: >ran\n{',
  '$(: >ran) `: >ran` ${HOME} $((1+1)) \\$(: >ran) "; : >ran; "',
  `it's '\\'' "quoted" '"'"' \\\\ \\n \\u0041 \\`,
  'one\r\ntwo\rthree\n\n\n',
  'nul \u0000 bell \u0007 escape \u001b[31m delete \u007f',
  '\u2028\u2029 \u202eback\u202c \u200f\ufeff\u00a0 \u{1f600} e\u0301',
  '`); process.exit(0); (` ${process.exit(0)} </script> @installation@ @program@ %s %n',
  'EOF\n.\n..\n~\n*\n?\n!!\n#!/bin/sh\n',
]
const LONG_LINE = 'x'.repeat(60_000)
const seed: readonly Entry[] = [
  ...TEXTS.map((text, index) => skill(`text-${index}`, text)),
  ...Array.from({ length: 18 }, (_, index) => skill(`long-${index}`, `${LONG_LINE}${index}`)),
  { id: 'rules', name: 'rules', config: { text: TEXTS.join('\n\n') } },
]

const NAMES = [
  '$(touch ran)',
  '`touch ran`; touch ran',
  `it's "named" \\ & | > ran`,
  'Prüfung \u{1f600} \u202e\u2028',
  '-rf ~ * ? [a] {b} #c',
  '@installation@ @message@ %s',
]

const world = sharedInstallWorld({ seed })
const small = sharedInstallWorld()

describe.each(SHELLS)('under %s', (shell) => {
  it('a megabyte of hostile texts arrives byte by byte and runs nothing [harness.install-2]', async () => {
    const { machine, scenario } = await world.fresh(`texts ${shell}`)
    const { files } = await scenario.svc.manifest()
    expect(Object.values(files).join('').length).toBeGreaterThan(1_000_000)
    for (const [index, text] of TEXTS.entries()) expect(files[`pi-agent/skills/text-${index}/SKILL.md`]).toContain(text.trimEnd())
    expect(await scenario.install(machine, shell)).toMatchObject({ code: 0 })
    await expectWhole(scenario, machine)
    expect(namesBelow(machine.root).filter((name) => /(?:^|\/)ran$/.test(name))).toEqual([])
  })
})

it.each(NAMES.map((name, index) => [name, SHELLS[index % SHELLS.length] ?? 'dash'] as const))(
  'a scenario called %j is installed by the printed line, and keeps its name in every call (%s)',
  async (name, shell) => {
    const { machine, scenario } = await small.fresh(name)
    const { release_id: first } = await scenario.svc.manifest()
    await scenario.order('Listen.', [{ name: 'radio', kind: 'service', check: '$(touch ran)', prompt: '\u001b[2J $(touch ran) \u202e' }])
    const args = [`${machine.root}/it's $(touch ran) here`, `${machine.root}/pre fix`]
    const { err } = await scenario.install(machine, shell, { args })
    const [line = ''] = /^ {2}printf .*$/m.exec(err) ?? []
    for (const obeyed of ['\u001b', '\u202e']) expect(err.replace(line, '')).not.toContain(obeyed)
    expect(await machine.run(['sh', '-c', line], { env: { SVC_TOKEN: TOKEN } })).toMatchObject({ code: 0 })
    expect(jsonAt(join(args[0] ?? '', RELEASE_FILE))['release_id']).toBe(first)
    expect(await machine.command(['hello'])).toMatchObject({ code: 0, out: 'hello\n' })
    expect(await machine.command(['report', '--score', '0.5'])).toMatchObject({ code: 0 })
    expect(namesBelow(machine.root).filter((each) => /(?:^|\/)ran$/.test(each))).toEqual([])
  },
)

describe('a harness’s folder', () => {
  it('that is a link is the folder it leads to, and has one install however it is named', async () => {
    const { machine, scenario } = await world.fresh('linked')
    const real = join(machine.root, 'real')
    mkdirSync(real)
    symlinkSync(real, machine.destination)
    expect(await scenario.install(machine, 'dash')).toMatchObject({ code: 0 })
    expect(realpathSync(machine.destination)).toBe(real)
    const args = [real, machine.prefix]
    expect(await scenario.install(machine, 'dash', { args })).toMatchObject({ code: 0, out: expect.stringContaining('already current') })
    expect(namesBelow(join(machine.home, '.svc/installs')).filter((name) => name.endsWith('record.json'))).toHaveLength(1)
  })

  it.each(['pi-agent', 'pi-agent/AGENTS.md', 'pi-agent/skills/text-0/SKILL.md', RELEASE_FILE])(
    'in which %s is a link is refused in one line, and what it leads to stays as it is',
    async (path) => {
      const { machine, scenario } = await world.fresh(`link at ${path.replaceAll('/', ' ')}`)
      const elsewhere = join(machine.root, 'elsewhere')
      if (path === 'pi-agent') mkdirSync(elsewhere)
      else writeFileSync(elsewhere, 'somebody’s own\n')
      mkdirSync(dirname(join(machine.destination, path)), { recursive: true })
      symlinkSync(elsewhere, join(machine.destination, path))
      const { code, err } = await scenario.install(machine, 'dash')
      expect(code).toBe(1)
      expect(err.split('\n').filter((line) => line.startsWith('svc: '))).toHaveLength(1)
      expect(err).not.toContain('    at ')
      expect(path === 'pi-agent' ? namesBelow(elsewhere) : readFileSync(elsewhere, 'utf8')).toEqual(
        path === 'pi-agent' ? [] : 'somebody’s own\n',
      )
      expect(existsSync(join(machine.destination, 'pi-agent/skills/text-1'))).toBe(false)
    },
  )

  it('that holds a file of the person’s own where one of the tree’s would go is refused, and the file stays', async () => {
    const { machine, scenario } = await world.fresh('own file')
    mkdirSync(join(machine.destination, 'pi-agent'), { recursive: true })
    writeFileSync(join(machine.destination, 'pi-agent/AGENTS.md'), 'mine\n')
    const { code, err } = await scenario.install(machine, 'dash')
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^svc: \S+AGENTS\.md is no file of a harness and would be overwritten; [^\n]*\n$/),
    })
    expect(readFileSync(join(machine.destination, 'pi-agent/AGENTS.md'), 'utf8')).toBe('mine\n')
  })
})

function skill(name: string, text: string): Entry {
  return { id: name, name: 'skill', config: { name, text } }
}
