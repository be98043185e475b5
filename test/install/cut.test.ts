/** A connection that ends early runs nothing of the script, wherever it ends. */
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sharedInstallWorld } from './install-world.ts'
import { makeMachine, SHELLS_TRIED, type Machine } from './machine.ts'

const SLOW = join(import.meta.dirname, '../fixtures/slow-harness.ts#late')
/** What a preamble is without its padding, rounded up. */
const PREAMBLE_BYTES = 400
const STEP = 9
const SPREAD = 9973
/** The line before the signature closes the group: only with it the script is whole. The signature is a comment to a shell. */
const closingOf = (bytes: Buffer): number => bytes.lastIndexOf('\n# svc-signed ') - 1

const world = sharedInstallWorld()
const slow = sharedInstallWorld({ recipe: SLOW, mode: 'auto' })

describe.each(SHELLS_TRIED)('under %s', (shell) => {
  it('the first bytes of a script run nothing, however many they are [harness.install-2]', async () => {
    const machine = tripped()
    const { bytes } = await (await world.scenario(`cut ${shell}`)).script()
    const cuts = await cutEverywhere(machine, shell, bytes, offsetsIn(bytes, 0))
    expect(cuts.filter(({ code, bytes: count }) => code === 0 && count > 0)).toEqual([])
    expect(machine.made()).toEqual([])
  })

  it('nor do those of one that was begun with a preamble, which does no more than say so [harness.install-4]', async () => {
    const machine = tripped()
    const { bytes } = await (await slow.scenario(`cut slowly ${shell}`)).script()
    const group = bytes.indexOf('\n{\n') + 1
    expect(group).toBeGreaterThan(60_000)
    const cuts = await cutEverywhere(machine, shell, bytes, offsetsIn(bytes, group))
    expect(cuts.filter(({ code, bytes: count }) => code === 0 && count > group)).toEqual([])
    expect(machine.made()).toEqual([])
    expect(await machine.run(shell.split(' '), { input: bytes.subarray(0, group) })).toEqual({
      code: 0,
      out: '',
      err: 'preparing the harness ...\n',
    })
  })

  it('the whole of it does run', async () => {
    const machine = tripped()
    const { bytes } = await (await world.scenario(`whole ${shell}`)).script()
    await machine.run(shell.split(' '), { input: bytes })
    expect(machine.made()).toEqual(['ran'])
  })
})

/** On this machine whatever calls a program of the script's leaves a mark. */
function tripped(): Machine {
  const machine = makeMachine()
  for (const name of ['node', 'npm']) {
    const path = join(machine.root, 'tools', name)
    rmSync(path)
    writeFileSync(path, '#!/bin/sh\n: >"$MACHINE/ran"\n')
    chmodSync(path, 0o755)
  }
  return machine
}

/** Around every line end but the padding's, at every few bytes of the shell text, and at places spread over all of it. */
function offsetsIn(bytes: Buffer, group: number): readonly number[] {
  const last = closingOf(bytes)
  const program = bytes.indexOf('const installation = ') + 40
  const end = bytes.lastIndexOf('globalThis[') - 10
  const isShell = (at: number): boolean => at < PREAMBLE_BYTES || (at >= group && at < program) || at >= end
  const all = Array.from({ length: last + 1 }, (_, at) => at)
  const chosen = all.filter(
    (at) => (isShell(at) && (at % STEP === 0 || bytes.subarray(at - 1, at + 2).includes('\n'))) || at % SPREAD === 0,
  )
  return [...chosen, last]
}

/** Each cut is piped into a shell of its own, until one of them has run something. */
async function cutEverywhere(machine: Machine, shell: string, script: Buffer, offsets: readonly number[]) {
  const file = join(machine.root, 'script')
  writeFileSync(file, script)
  const loop = `while read -r bytes; do head -c "$bytes" '${file}' | ${shell} >/dev/null 2>&1; echo "$bytes $?"; [ ! -e "$MACHINE/ran" ] || exit 1; done`
  const { code, out } = await machine.run(['dash', '-c', loop], { input: Buffer.from(`${offsets.join('\n')}\n`) })
  rmSync(file)
  const cuts = out
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ').map(Number))
  expect({ code, tried: cuts.length, last: cuts.at(-1) }).toMatchObject({ code: 0, tried: offsets.length })
  return cuts.map(([bytes = 0, status = 0]) => ({ bytes, code: status }))
}
