/** The install script as text: three shell files, and every value put into them by one of two quoting functions. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { deliveryOf, type Installation, type InstallStart, type SignedInstallation } from '@svc-ai/agent/installation'
import { INSTALL_PREAMBLE_BYTES_MIN } from '../../contract/index.ts'

/** Runs under every POSIX shell. It is one braced group: a shell that was not sent its last line runs nothing of it. */
export function installScript(installation: SignedInstallation | InstallStart): string {
  return filled(template('install.sh'), { installation: quotedForNode(installation), program: quotedForNode(wrapperProgram()) })
}

/** The digest of what a script for this brings. */
export const deliveryDigest = (installation: Installation): string => deliveryOf(installation, wrapperProgram())

/** What a person sees while the script is being made. Shells and curl pass on no less than a buffer, so it is padded to one. */
export function preambleScript(): string {
  const text = template('preamble.sh')
  const line = `#${' '.repeat(78)}\n`
  return text + line.repeat(Math.ceil((INSTALL_PREAMBLE_BYTES_MIN - text.length) / line.length))
}

/** What stands in for a script that could not be made. */
export function failureScript(status: number, message: string): string {
  return filled(template('failure.sh'), { message: quotedForShell(`svc: ${status}: ${message}`) })
}

const template = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8')

/** In one pass, so that nothing in a value is taken for a place to fill. */
function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/@([a-z]+)@/g, (place, name: string) => values[name] ?? place)
}

/** One word, whatever it holds; what is no character a terminal should be sent becomes a question mark. */
function quotedForShell(text: string): string {
  return `'${text.replaceAll(/\p{Cc}/gu, '?').replaceAll("'", String.raw`'\''`)}'`
}

/** A JavaScript literal of one line of ASCII: no text can end the here-document it stands in, whatever the shell's locale. */
function quotedForNode(value: string | SignedInstallation | InstallStart): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\uffff]/g, escaped)
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** The program that installs, and that runs the agent afterwards: one file, built with the client. */
const wrapperProgram = (): string => readFileSync(createRequire(import.meta.url).resolve('@svc-ai/agent/wrapper'), 'utf8')
