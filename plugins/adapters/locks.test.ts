/** The locks of the agents' programs name the bytes for every machine that people have, or say so where they do not. */
import { describe, expect, it } from 'vitest'
import { isObject, type Json } from '../../src/contract/index.ts'
import claude from './claude/index.ts'
import codex from './codex/index.ts'
import dsh from './dsh/index.ts'
import opencode from './opencode/index.ts'
import pi from './pi/index.ts'

const MACHINES = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'] as const

/** The machines for which a program is locked, of those above; all for a program that is JavaScript. */
function lockedFor({ plugin: { install } }: typeof pi): readonly string[] {
  if (install?.lock === undefined) return []
  if (install.native === undefined) return MACHINES
  const lock: Json = JSON.parse(install.lock)
  const packages = isObject(lock) && isObject(lock['packages']) ? Object.entries(lock['packages']) : []
  return MACHINES.filter((machine) => packages.some(([, entry]) => isFor(entry, machine)))
}

const isFor = (entry: Json, machine: string): boolean => {
  if (!isObject(entry) || entry['optional'] !== true || typeof entry['integrity'] !== 'string') return false
  const [os = '', cpu = ''] = machine.split('-')
  return [entry['os']].flat().includes(os) && [entry['cpu']].flat().includes(cpu)
}

describe('the lock of', () => {
  it.each([
    ['pi', pi, MACHINES],
    ['claude', claude, MACHINES],
    ['codex', codex, MACHINES],
    // The registry that its lock was made from has its programs for this machine alone; everywhere else it is refused.
    ['opencode', opencode, ['linux-x64']],
    ['dsh', dsh, MACHINES],
  ] as const)('%s covers the machines it says', (_name, adapter, machines) => {
    expect(lockedFor(adapter)).toEqual(machines)
  })
})
