/** Compilers beside the system's programs: Go as its makers pack it, and Rust as rustup installs it. Nothing of a person lies in their folders. */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { findProgram } from './program.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** Of this machine, those that the service would start and the usual ones. The programs of each are in its folder `bin`. */
export function toolchains(variables: Variables = process.env): readonly string[] {
  const home = variables['HOME'] ?? homedir()
  const found = [goFolder(variables), rustFolder(variables, home)].filter((folder) => folder !== null)
  // Behind a link, only what it leads to can be shown.
  return found.map((folder) => realpathSync(folder)).filter((folder) => !`${home}/`.startsWith(`${folder}/`))
}

export const programsOf = (folders: readonly string[]): readonly string[] => folders.map((folder) => join(folder, 'bin'))

const GO = '/usr/local/go'

const isGo = (folder: string): boolean => existsSync(join(folder, 'bin/go')) && existsSync(join(folder, 'src/runtime'))

function goFolder(variables: Variables): string | null {
  const program = programOn(variables, 'go')
  return [...(program === null ? [] : [above(program)]), GO].find(isGo) ?? null
}

const isRust = (folder: string): boolean => existsSync(join(folder, 'bin/cargo')) && existsSync(join(folder, 'lib/rustlib'))

/** The program on the PATH is usually rustup's, which starts that of a toolchain. */
function rustFolder(variables: Variables, home: string): string | null {
  const program = programOn(variables, 'cargo')
  const direct = program === null || basename(program) === 'rustup' ? [] : [above(program)]
  return [...direct, ...rustupFolders(variables['RUSTUP_HOME'] ?? join(home, '.rustup'), variables)].find(isRust) ?? null
}

/** As rustup resolves a name, which may leave out the host: that of the environment, else the default one. */
function rustupFolders(rustup: string, variables: Variables): readonly string[] {
  const settings = textOf(join(rustup, 'settings.toml'))
  const host = fieldOf(settings, 'default_host_triple')
  const hosts = host !== undefined && isInFolder(host) ? [host] : HOSTS
  return [variables['RUSTUP_TOOLCHAIN'] ?? '', fieldOf(settings, 'default_toolchain') ?? '']
    .flatMap((name) => (isInFolder(name) ? [name, ...hosts.map((triple) => `${name}-${triple}`)] : []))
    .map((name) => join(rustup, 'toolchains', name))
}

/** A name that is a path leads elsewhere. */
const isInFolder = (name: string): boolean => name !== '' && basename(name) === name

const fieldOf = (settings: string, name: string): string | undefined => new RegExp(`^${name} *= *"([^"]+)"$`, 'm').exec(settings)?.[1]

/** Rust's words for this machine; nearly every Linux has the first library of C. */
const ARCH = process.arch === 'x64' ? 'x86_64' : process.arch === 'arm64' ? 'aarch64' : process.arch
const SYSTEMS = process.platform === 'darwin' ? ['apple-darwin'] : ['unknown-linux-gnu', 'unknown-linux-musl']
const HOSTS = SYSTEMS.map((system) => `${ARCH}-${system}`)

function programOn(variables: Variables, name: string): string | null {
  const found = findProgram(name, variables['PATH'] ?? '')
  return found === null ? null : realpathSync(found)
}

const above = (program: string): string => dirname(dirname(program))

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
