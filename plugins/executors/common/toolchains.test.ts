/** Compilers are found by the PATH, by rustup's settings and where their makers put them; nothing else is shown. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { programsOf, toolchains } from './toolchains.ts'

const GO = ['bin/go', 'src/runtime/proc.go']
const RUST = ['bin/cargo', 'bin/rustc', 'lib/rustlib/components']

function filled(folder: string, files: readonly string[], text = ''): string {
  for (const path of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text, { mode: 0o755 })
  }
  return folder
}

/** A person's home, in which nothing is on the PATH yet. */
function makeHome() {
  const home = temporaryFolder()
  mkdirSync(join(home, 'programs'))
  return {
    home,
    variables: { HOME: home, PATH: join(home, 'programs') },
    link: (name: string, to: string): void => symlinkSync(to, join(home, 'programs', name)),
  }
}

/** Go may be installed on the machine that runs the tests. */
const own = (variables: Readonly<Record<string, string>>): readonly string[] =>
  toolchains(variables).filter((folder) => folder !== '/usr/local/go')

describe('Go', () => {
  it('is the folder of the program on the PATH, also where that is a link', () => {
    const { home, variables, link } = makeHome()
    const go = filled(join(home, 'sdk/go1.26'), GO)
    link('go', join(go, 'bin/go'))
    expect(own(variables)).toEqual([go])
    expect(programsOf(own(variables))).toEqual([join(go, 'bin')])
  })

  it('is none where the program is another one', () => {
    const { home, variables, link } = makeHome()
    link('go', join(filled(join(home, 'tools'), ['bin/go', 'id_rsa']), 'bin/go'))
    expect(own(variables)).toEqual([])
  })
})

/** With rustup's program on the PATH. */
function withRustup(settings: string) {
  const made = makeHome()
  const rustup = join(made.home, '.rustup')
  filled(rustup, ['settings.toml'], settings)
  made.link('cargo', join(filled(join(made.home, '.cargo'), ['bin/rustup']), 'bin/rustup'))
  const toolchain = (name: string): string => filled(join(rustup, 'toolchains', name), RUST)
  return { ...made, rustup, toolchain }
}

describe('Rust', () => {
  it('is rustup’s default toolchain, or the one that the environment names', () => {
    const { variables, toolchain } = withRustup('version = "12"\ndefault_toolchain = "stable"\n')
    const [stable, nightly] = [toolchain('stable'), toolchain('nightly')]
    expect(own(variables)).toEqual([stable])
    expect(own({ ...variables, RUSTUP_TOOLCHAIN: 'nightly' })).toEqual([nightly])
  })

  it.runIf(process.platform === 'linux' && process.arch === 'x64')('is found by a name that leaves out this machine', () => {
    const { variables, toolchain } = withRustup('default_toolchain = "stable"\n')
    const [stable, nightly] = [toolchain('stable-x86_64-unknown-linux-gnu'), toolchain('nightly-x86_64-unknown-linux-gnu')]
    toolchain('nightly-2026-01-01-x86_64-unknown-linux-gnu')
    expect(own(variables)).toEqual([stable])
    expect(own({ ...variables, RUSTUP_TOOLCHAIN: 'nightly' })).toEqual([nightly])
    expect(own({ ...variables, RUSTUP_TOOLCHAIN: 'stable' })).toEqual([stable])
  })

  it('is found by a name that leaves out the host that rustup is set to', () => {
    const { variables, toolchain } = withRustup('default_host_triple = "riscv64gc-unknown-linux-gnu"\ndefault_toolchain = "stable"\n')
    const [stable, named] = [toolchain('stable-riscv64gc-unknown-linux-gnu'), toolchain('1.95.0-riscv64gc-unknown-linux-gnu')]
    expect(own(variables)).toEqual([stable])
    expect(own({ ...variables, RUSTUP_TOOLCHAIN: '1.95.0' })).toEqual([named])
  })

  it.each(['beta', '../../private', ''])('is the default toolchain where the environment names %j, which is not installed', (name) => {
    const { variables, toolchain } = withRustup('default_toolchain = "stable"\n')
    const stable = toolchain('stable')
    expect(own({ ...variables, RUSTUP_TOOLCHAIN: name })).toEqual([stable])
  })

  it('is found where rustup lies elsewhere, and is not on the PATH', () => {
    const { rustup, toolchain } = withRustup('default_toolchain = "stable"\n')
    const stable = toolchain('stable')
    expect(own({ HOME: temporaryFolder(), PATH: '', RUSTUP_HOME: rustup })).toEqual([stable])
  })

  it('is found behind a link, as rustup makes for a toolchain of a person’s own', () => {
    const { home, rustup, variables } = withRustup('default_toolchain = "mine"\n')
    const mine = filled(join(home, 'rust/build'), RUST)
    mkdirSync(join(rustup, 'toolchains'))
    symlinkSync(mine, join(rustup, 'toolchains/mine'))
    expect(own(variables)).toEqual([mine])
  })

  it.each(['../../private', '/etc', '..', ''])('is none where its name is %j, or nothing is installed under it', (name) => {
    const { home, variables } = withRustup(`default_toolchain = "${name}"\n`)
    filled(join(home, 'private'), RUST)
    expect(own(variables)).toEqual([])
  })

  it('is the folder of a cargo that is not rustup’s', () => {
    const { home, variables, link } = makeHome()
    const rust = filled(join(home, 'rust'), RUST)
    link('cargo', join(rust, 'bin/cargo'))
    expect(own(variables)).toEqual([rust])
  })
})

it('a folder that holds the home of a person is never shown', () => {
  const { home, variables, link } = makeHome()
  filled(home, [...GO, ...RUST])
  link('go', join(home, 'bin/go'))
  link('cargo', join(home, 'bin/cargo'))
  expect(own(variables)).toEqual([])
})

it('a machine without compilers has none', () => {
  expect(own({ HOME: temporaryFolder(), PATH: '' })).toEqual([])
})
