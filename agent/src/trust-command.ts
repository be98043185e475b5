/** `trust`: the key that this install trusts, or another one that a person got from the operator and typed. */
import { onlyArgument, readArguments, UsageError } from '@svc-ai/client/shared'
import { isFingerprint, trustIn } from '@svc-ai/client/signing'
import { commandOf, inFolder } from './places.ts'
import { oneAtATime } from './process-lock.ts'
import type { Install } from './service.ts'
import type { Terminal } from './terminal.ts'
import { readTrust, writeTrust } from './trust.ts'

export async function trust({ folder, record }: Install, argv: readonly string[], terminal: Terminal): Promise<number> {
  const { positionals } = readArguments(argv, {})
  if (positionals.length === 0) return show(folder, terminal)
  const key = onlyArgument(positionals, 'the fingerprint')
  if (!isFingerprint(key))
    throw new UsageError("the fingerprint begins with ed25519: and is printed by 'svc key show' where the service runs")
  await oneAtATime(inFolder(folder).lock, terminal, async () => {
    // A damaged file is what this command is for.
    const kept = await readTrust(folder).catch(() => null)
    await writeTrust(folder, { ...trustIn(key), ...(kept?.insecure_http === true && { insecure_http: true }) })
  })
  terminal.print(`key ${key} is trusted here from now on; install what it signed with: ${commandOf(record.adapter)} update`)
  return 0
}

async function show(folder: string, terminal: Terminal): Promise<number> {
  const kept = await readTrust(folder)
  terminal.print(kept === null ? 'no key is pinned yet; the next update pins it' : kept.key)
  return 0
}
