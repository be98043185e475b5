/** Processes that publish, and that are killed while they do. */
import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Files, JsonObject, Release } from '../../../../src/contract/index.ts'

export interface Published {
  readonly files: Files
  readonly release: Release
}

export function spawnWriter(config: JsonObject, scenario: string, rounds: number): ChildProcess {
  return spawnFixture('writer.fixture.mjs', [JSON.stringify(config), scenario, String(rounds)])
}

export function spawnFixture(name: string, args: readonly string[]): ChildProcess {
  const script = fileURLToPath(new URL(`../${name}`, import.meta.url))
  return spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
}

/** Kills without warning once so many lines came; answers every line that got out. */
export async function killAfter<Announced>(writer: ChildProcess, lines: number): Promise<Announced[]> {
  const announced: Announced[] = []
  if (writer.stdout === null) throw new Error('the writer has no output')
  for await (const line of createInterface({ input: writer.stdout })) {
    const said: Announced = JSON.parse(line)
    announced.push(said)
    if (announced.length === lines) writer.kill('SIGKILL')
  }
  return announced
}
